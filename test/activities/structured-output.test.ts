import { describe, expect, test } from "vitest";
import { judgeOutput, outputPlan } from "../../src/activities/structured-output.ts";
import { anthropic } from "../../src/config/model-names.ts";
import { NO_USAGE } from "../../src/core/usage.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { AssistantMessage, StopReason } from "../../src/schema/message.ts";

const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const output = { type: "json-schema", schema } as const;

function answer(
  text: string,
  calls: readonly { name: string; arguments: unknown }[],
  stopReason: StopReason,
) {
  const parts = calls.map((call, index) => ({ type: "toolCall" as const, id: `c${index}`, ...call }));
  return {
    role: "assistant",
    content: [{ type: "text", text }, ...parts],
    stopReason,
    model: "m",
    provider: "p",
    usage: NO_USAGE,
    timestamp: 0,
  } satisfies AssistantMessage;
}
const native = (text: string, stopReason: StopReason = "stop") =>
  judgeOutput(answer(text, [], stopReason), { output, road: "native" });
const emulated = (
  calls: readonly { name: string; arguments: unknown }[],
  stopReason: StopReason = "toolUse",
) => judgeOutput(answer("", calls, stopReason), { output, road: "final-tool" });
const final = (value: unknown) => ({ name: "final_answer", arguments: value });
const unfit = (problems: string) => ({ ok: false, problems: expect.stringContaining(problems) });

test("a provider that can do neither is refused, with what was asked and what to do [SO-01]", () => {
  const provider = { id: "p", protocol: "anthropic_messages" } as Provider;
  expect(() => outputPlan({ output, model: anthropic("m") }, { get: () => provider })).toThrow(
    /anthropic_messages cannot be held to an output of type json-schema: leave `output` out/,
  );
  expect(
    outputPlan({ output: { type: "text" }, model: anthropic("m") }, { get: () => provider }),
  ).toBeUndefined();
});

describe("the verdict", () => {
  test("takes the value that fits, wherever it stands in the text [SO-01, PHI-09]", () => {
    expect(native('{"a":"x"}')).toEqual({ ok: true });
    expect(native('Not {"b":1}; here: {"a":"x"}.')).toEqual({ ok: true });
    expect(native('{"a":"x"}\n\n\n', "length")).toEqual({ ok: true });
    expect(native('{"a":"x', "length")).toEqual(unfit("cut off by the output limit"));
    expect(native("[]")).toEqual(unfit("the answer: found a list, expected an object"));
    expect(native("", "guardRail")).toEqual(unfit("filtered"));
  });

  test("is none for what has failed, or goes on with calls [SO-01]", () => {
    expect(native("x", "error")).toBeUndefined();
    expect(emulated([{ name: "bash", arguments: {} }])).toBeUndefined();
    expect(emulated([final({ a: "x" }), { name: "bash", arguments: {} }])).toBeUndefined();
    expect(judgeOutput(answer("", [final({})], "toolUse"), { output, road: "native" })).toBeUndefined();
  });

  test("trusts no call that was cut off, and reads no text for arguments [SO-01]", () => {
    expect(emulated([final({ a: "x" })])).toEqual({ ok: true });
    expect(emulated([final({ a: "x" })], "length")).toEqual(unfit("cut off"));
    expect(emulated([final('{"a":"x"}')])).toEqual(unfit("expected an object"));
  });

  test("says no more than 512 bytes, and no secret [SO-01]", () => {
    const secret = `sk-test-${"0123456789abcdef".repeat(2)}`.slice(0, 36);
    const closed = { ...schema, additionalProperties: false };
    const verdict = judgeOutput(answer(`{"${secret}":1}`, [], "stop"), {
      output: { type: "json-schema", schema: closed },
      road: "native",
    });
    expect(JSON.stringify(verdict)).not.toContain(secret.slice(12));
    const wide = {
      type: "object",
      properties: { a: { enum: Array.from({ length: 200 }, (_, i) => `v${i}`) } },
    };
    const long = judgeOutput(answer('{"a":1}', [], "stop"), {
      output: { type: "json-schema", schema: wide },
      road: "native",
    });
    expect(Buffer.byteLength((long as { problems: string }).problems)).toBe(512);
  });
});
