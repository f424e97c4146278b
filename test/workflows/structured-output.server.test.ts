import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACCEPTED_TEXT } from "../../src/core/machine/structured-output.ts";
import type { AgentDefinitionInput } from "../../src/schema/definition.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};
const GOOD = { city: "Ulm", degrees: 4.5 };
const BAD = { city: "Ulm" };
const MISSING = "degrees: found nothing, expected a number";
const output = { type: "json-schema", schema: SCHEMA } as const;
const NATIVE = { output, model: { api: "openai_completions" } } as const;
const EMULATED = { output } as const;
const json = JSON.stringify;
const calls = (...all: unknown[]) => ({
  toolCalls: all.map((value) => ({ name: "final_answer", arguments: value })),
});

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const bodyOf = (session: TestSession, nth: number) => session.listRequests()[nth]?.body ?? {};

describe("native", () => {
  test("an answer that fits is the result's JSON [SO-01.1]", async () => {
    const session = stage.session({ replies: [{ text: `\n${json(GOOD)} ` }], agent: NATIVE });
    expect(await session.run("Weather?")).toMatchObject({
      outcome: { type: "answered", stopReason: "stop" },
      text: json(GOOD),
      json: "complete",
      position: 1,
    });
    expect(bodyOf(session, 0)["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "final_answer", schema: SCHEMA, strict: true },
    });
    expect(bodyOf(session, 0)).not.toHaveProperty("tools");
  });

  test("an answer that does not fit is repaired in one round [SO-01.3]", async () => {
    const session = stage.session({ replies: [{ text: json(BAD) }, { text: json(GOOD) }], agent: NATIVE });
    expect(await session.run("Weather?")).toMatchObject({ text: json(GOOD), json: "complete", position: 3 });
    expect((await session.readConversation())[2]).toContain(MISSING);
    expect(session.listRequests()).toHaveLength(2);
  });

  thoroughTest("a second one fails the run, with the actual and the expected value [SO-01.3]", async () => {
    const session = stage.session({ replies: [{ text: "Mild." }, { text: json(BAD) }], agent: NATIVE });
    await session.start("Weather?");
    const { message, readResult } = await session.readFailure();
    expect(message).toContain(`schema-mismatch: The answer is not the required output: ${MISSING}`);
    expect(readResult).toMatchObject({
      outcome: { type: "failed", fault: "schema-mismatch" },
      text: json(BAD),
    });
    expect(readResult).not.toHaveProperty("json");
    expect((await session.readConversation())[2]).toContain("The text holds no JSON object");
    expect((await session.readEventTypes()).filter((type) => type === "AgentEnd")).toHaveLength(1);
    expect(session.listRequests()).toHaveLength(2);
  });

  test("any JSON object, and the request mentions JSON [SO-01.1]", async () => {
    const session = stage.session({
      replies: [{ text: "[1]" }, { text: '```json\n{"a":[1]}\n```' }],
      agent: { ...NATIVE, output: { type: "json" } },
    });
    expect(await session.run("Any")).toMatchObject({ text: '{"a":[1]}', json: "complete" });
    expect((await session.readConversation())[2]).toContain("found a list, expected an object");
    expect(bodyOf(session, 0)["response_format"]).toEqual({ type: "json_object" });
    expect(json(bodyOf(session, 0)["messages"])).toContain("one JSON object");
  });

  thoroughTest(
    "an output above the maximum size of a result is cut there, and complete in the transcript",
    async () => {
      const long = { city: "x".repeat(40_000), degrees: 1 };
      const session = stage.session({ replies: [{ text: json(long) }], agent: NATIVE });
      const result = await session.run("Long");
      expect(result.json).toBe("truncated");
      expect(Buffer.byteLength(result.text ?? "")).toBeLessThan(33_000);
    },
  );
});

describe("with recovery", () => {
  const REPAIRED = { output: { ...output, recovery: "repair" } } as const;

  test("an answer that says what it means is repaired, and the result and the record list how [IRIS-17, IRIS-18, IRIS-19]", async () => {
    const text = 'Here you are:\n```json\n{"City": "Ulm", degrees: "4.5",}\n```';
    const session = stage.session({ replies: [{ text }], agent: { ...NATIVE, ...REPAIRED } });
    const repairs = [
      "missing quotes of names added",
      "superfluous commas removed",
      "city: found under another name",
      "degrees: text read as number",
    ];
    const result = await session.run("Weather?");
    expect(result).toMatchObject({ text: json(GOOD), json: "complete", repairs });
    expect(session.listRequests()).toHaveLength(1);
    const end = (await session.readEvents()).find(({ body }) => body.type === "AgentEnd");
    expect(end?.body).toMatchObject({ repairs });
  });

  test("what cannot be repaired gets its repair round; a text may stand for the final tool's call", async () => {
    const session = stage.session({ replies: [calls(BAD), { text: json(GOOD) }], agent: REPAIRED });
    const result = await session.run("Weather?");
    expect(result).toMatchObject({ text: json(GOOD), json: "complete", position: 3 });
    expect(result).not.toHaveProperty("repairs");
    expect((await session.readConversation())[2]).toBe(`toolResult: Not accepted: ${MISSING}`);
  });
});

describe("a final tool", () => {
  thoroughTest("whose arguments fit is the end, and not run [SO-01.2, LOOP-22.3]", async () => {
    const session = stage.session({
      replies: [{ text: "So:", ...calls(GOOD) }],
      agent: { ...EMULATED, tools: ["bash"] },
    });
    expect(await session.run("Weather?")).toMatchObject({
      outcome: { type: "answered", stopReason: "stop" },
      text: json(GOOD),
      json: "complete",
      position: 1,
    });
    expect((await session.readConversation())[2]).toBe(`toolResult: ${ACCEPTED_TEXT}`);
    const body = bodyOf(session, 0);
    expect((body["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(["bash", "final_answer"]);
    expect(json(body["system"])).toContain("by calling the tool final_answer");
    expect(body).not.toHaveProperty("tool_choice");
    expect(body).not.toHaveProperty("response_format");
  });

  thoroughTest(
    "that does not fit is repaired, and the vendor is instructed to call it [SO-01.2-3]",
    async () => {
      const session = stage.session({ replies: [calls(BAD), calls(GOOD)], agent: EMULATED });
      expect(await session.run("Weather?")).toMatchObject({ text: json(GOOD), position: 3 });
      expect((await session.readConversation())[2]).toBe(`toolResult: Not accepted: ${MISSING}`);
      expect(bodyOf(session, 1)["tool_choice"]).toEqual({ type: "tool", name: "final_answer" });
    },
  );

  thoroughTest(
    "that is not called is requested once more; another text then fails the run [SO-01.2-3]",
    async () => {
      const session = stage.session({ replies: [{ text: json(GOOD) }, { text: "Mild." }], agent: EMULATED });
      await session.start("Weather?");
      expect((await session.readFailure()).message).toContain(
        "found a text, expected a call of final_answer",
      );
      expect((await session.readConversation())[2]).toContain(
        "found a text, expected a call of final_answer",
      );
    },
  );

  thoroughTest("that is called twice in one answer, and then once [SO-01.2, TOOL-08.1]", async () => {
    const session = stage.session({ replies: [calls(GOOD, GOOD), calls(GOOD)], agent: EMULATED });
    expect(await session.run("Weather?")).toMatchObject({ json: "complete", position: 4 });
    expect((await session.readConversation()).slice(2, 4)).toEqual(
      Array(2).fill("toolResult: Not accepted: found 2 calls of final_answer, expected one"),
    );
  });

  test("beside a real tool: that one runs, and the final call is repeated with its result [SO-01.2]", async () => {
    const session = stage.session({
      replies: [
        {
          toolCalls: [
            { name: "final_answer", arguments: GOOD },
            { name: "bash", arguments: { command: "echo ran" } },
          ],
        },
        calls(GOOD),
      ],
      agent: { ...EMULATED, tools: ["bash"], permissions: { otherwise: "allow" } },
    });
    expect(await session.run("Weather?")).toMatchObject({ text: json(GOOD), position: 4 });
    const told = await session.readConversation();
    expect(told[2]).toContain("Not judged: final_answer was called together with other tools");
    expect(told[3]).toContain("ran");
    expect(bodyOf(session, 1)).not.toHaveProperty("tool_choice");
  });
});

describe("a definition is rejected before the start for", () => {
  const refused = async (agent: Partial<AgentDefinitionInput> & { model?: never }) => {
    const session = stage.session({ agent });
    await session.start("Go");
    const { message } = await session.readFailure();
    expect(session.listRequests()).toHaveLength(0);
    return message;
  };
  const schema = (more: object) => ({
    output: { type: "json-schema" as const, schema: { type: "object", ...more } },
  });

  thoroughTest("an invalid schema", async () => {
    expect(await refused(schema({ properties: { a: { type: "texts" } } }))).toMatch(
      /output\.schema is not a usable JSON Schema: schema.*properties.*a.*type/,
    );
    expect(await refused(schema({ properties: { a: { $ref: "#/$defs/none" } } }))).toContain("#/$defs/none");
  });

  thoroughTest("a schema of a list, and one that is too long", async () => {
    expect(await refused({ output: { type: "json-schema", schema: { type: "array" } } })).toContain(
      'its "type" must be "object", found "array"',
    );
    expect(await refused(schema({ description: "x".repeat(32 * 1024) }))).toContain("at most 32768");
  });

  thoroughTest("an output with the name of a tool, or a name that a tool answers to", async () => {
    for (const name of ["bash", "Bash"]) {
      const message = await refused({ tools: ["bash"], output: { ...output, name } });
      expect(message).toContain(`The tool bash already answers to the name ${name} of the output`);
    }
  });
});
