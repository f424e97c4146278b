import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { buildOutputPlan, judgeOutput } from "../../src/activities/model/structured-output.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import type { Provider } from "../../src/models/provider.ts";
import type { AssistantMessage, StopReason } from "../../src/schema/message.ts";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { cpuMs } from "../support/cpu-time.ts";

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
  judgeOutput(answer(text, [], stopReason), { output, mode: "native" });
const emulated = (
  calls: readonly { name: string; arguments: unknown }[],
  stopReason: StopReason = "toolUse",
) => judgeOutput(answer("", calls, stopReason), { output, mode: "final-tool" });
const final = (value: unknown) => ({ name: "final_answer", arguments: value });
const unfit = (problems: string) => ({ ok: false, problems: expect.stringContaining(problems) });

test("a provider that supports neither mode is rejected; the error names the request and the remedy [SO-01.4]", () => {
  const provider = { id: "p", protocol: "anthropic_messages" } as Provider;
  expect(() => buildOutputPlan({ output, model: anthropic("m") }, { get: () => provider })).toThrow(
    /anthropic_messages does not support an output of type json-schema: remove `output`/,
  );
  expect(
    buildOutputPlan({ output: { type: "text" }, model: anthropic("m") }, { get: () => provider }),
  ).toBeUndefined();
});

describe("the verdict", () => {
  test("takes the value that fits, wherever it appears in the text [SO-01.3]", () => {
    expect(native('{"a":"x"}')).toEqual({ ok: true });
    expect(native('Not {"b":1}; here: {"a":"x"}.')).toEqual({ ok: true });
    expect(native('{"a":"x"}\n\n\n', "length")).toEqual({ ok: true });
    expect(native('{"a":"x', "length")).toEqual(unfit("cut off by the output limit"));
    expect(native("[]")).toEqual(unfit("the answer: found a list, expected an object"));
    expect(native("", "guardRail")).toEqual(unfit("filtered"));
  });

  test("does not exist for an answer that failed or continues with calls [SO-01.3]", () => {
    expect(native("x", "error")).toBeUndefined();
    expect(emulated([{ name: "bash", arguments: {} }])).toBeUndefined();
    expect(emulated([final({ a: "x" }), { name: "bash", arguments: {} }])).toBeUndefined();
    expect(judgeOutput(answer("", [final({})], "toolUse"), { output, mode: "native" })).toBeUndefined();
  });

  test("does not trust a call that was cut off, and does not read text as arguments [SO-01.3]", () => {
    expect(emulated([final({ a: "x" })])).toEqual({ ok: true });
    expect(emulated([final({ a: "x" })], "length")).toEqual(unfit("cut off"));
    expect(emulated([final('{"a":"x"}')])).toEqual(unfit("expected an object"));
  });

  test("is at most 512 bytes long and contains no secret", () => {
    const secret = `sk-test-${"0123456789abcdef".repeat(2)}`.slice(0, 36);
    const closed = { ...schema, additionalProperties: false };
    const verdict = judgeOutput(answer(`{"${secret}":1}`, [], "stop"), {
      output: { type: "json-schema", schema: closed },
      mode: "native",
    });
    expect(JSON.stringify(verdict)).not.toContain(secret.slice(12));
    const wide = {
      type: "object",
      properties: { a: { enum: Array.from({ length: 200 }, (_, i) => `v${i}`) } },
    };
    const long = judgeOutput(answer('{"a":1}', [], "stop"), {
      output: { type: "json-schema", schema: wide },
      mode: "native",
    });
    expect(Buffer.byteLength((long as { problems: string }).problems)).toBe(512);
  });
});

describe("an answer that cannot be checked to its end does not fit [SO-01.3]", () => {
  const MEGABYTES = 1024 * 1024;

  test("because of a pattern that never finishes", () => {
    const slow = { type: "object", properties: { a: { type: "string", pattern: "^(x+)+$" } } };
    const text = JSON.stringify({ a: `${"x".repeat(60)}!` });
    expect(
      judgeOutput(answer(text, [], "stop"), {
        output: { type: "json-schema", schema: slow },
        mode: "native",
      }),
    ).toEqual(unfit("longer than 2 s"));
  });

  test.each([
    ["brackets", "[x ".repeat((4 * MEGABYTES) / 3)],
    ["fences", "```\n".repeat(MEGABYTES / 4)],
    ["an object that never ends", `{"a": "${"x".repeat(4 * MEGABYTES)}`],
    ["objects that are none", '{"a": 1,} '.repeat((4 * MEGABYTES) / 10)],
  ])("made of %s", (_what, text) => {
    const spentMs = cpuMs(() => {
      expect(native(text)).toMatchObject({ ok: false });
    });
    expect(spentMs).toBeLessThan(1_900);
  });

  test("with more errors than a process can store", () => {
    const choice = { enum: Array.from({ length: 1000 }, (_, index) => `value-${index}`) };
    const lists = { type: "object", properties: { a: { type: "array", items: choice } } };
    const message = answer("", [final({ a: Array.from({ length: 500_000 }, () => "x") })], "toolUse");
    const output = { type: "json-schema" as const, schema: lists };
    const spentMs = cpuMs(() => {
      expect(judgeOutput(message, { output, mode: "final-tool" })).toEqual(
        unfit('a.0: found the text "x", expected one of "value-0"'),
      );
    });
    expect(spentMs).toBeLessThan(1_900);
  });
});

test("a field named after a schema keyword is checked against its own schema [SO-01.3]", () => {
  const named = {
    type: "object",
    properties: { oneOf: { type: "object", properties: { a: { type: "number" } } } },
  };
  expect(
    judgeOutput(answer('{"oneOf":{"a":"x"}}', [], "stop"), {
      output: { type: "json-schema", schema: named },
      mode: "native",
    }),
  ).toEqual(unfit("oneOf.a: found the text"));
});

test("the first check of a process is not refused because loading the validator takes long", async () => {
  const message = JSON.stringify(answer('{"a":"x"}', [], "stop"));
  const plan = JSON.stringify({ output, mode: "native" });
  const program = `
    import { judgeOutput } from ${JSON.stringify(resolveBuiltFile("activities/model/structured-output.js"))};
    console.log(JSON.stringify(judgeOutput(${message}, ${plan})));`;
  const slow = fileURLToPath(new URL("./support/slow-validator.cjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...["--require", slow, "--input-type=module", "--eval", program],
  ]);
  expect(JSON.parse(stdout)).toEqual({ ok: true });
});
