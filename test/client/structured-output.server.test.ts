import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { main } from "../../src/apps/cli/program.ts";
import { extractJson, type Holdfast, HoldfastError, zodOutput } from "../../src/client/index.ts";
import { createTerminal } from "../cli/terminal.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

const Forecast = z.object({ city: z.string(), degrees: z.number().transform((number) => `${number}°`) });
const WRITTEN = { city: "Ulm", degrees: 4 };

let stage: TestEnvironment;
let holdfast: Holdfast;
let folder: string;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
  folder = await mkdtemp(join(tmpdir(), "holdfast-output-"));
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
  await rm(folder, { recursive: true, force: true });
});

function scripted(...values: unknown[]) {
  const replies = values.map((value) => ({ toolCalls: [{ name: "final_answer", arguments: value }] }));
  return stage.session({ replies });
}

describe("a run with a zod schema", () => {
  thoroughTest(
    "returns its output parsed and typed, to this handle and to others [SO-01.1, PHI-09.1]",
    async () => {
      const { id, definition } = scripted(WRITTEN);
      const session = await holdfast.start({
        agent: definition,
        session: id,
        prompt: "Go",
        output: Forecast,
      });
      const { output } = await session.result();
      expectTypeOf(output).toEqualTypeOf<{ city: string; degrees: string } | undefined>();
      expect(output).toEqual({ city: "Ulm", degrees: "4°" });
      expect((await holdfast.session(id).result()).output).toEqual(WRITTEN);
      const other = holdfast.session(id, { output: z.object({ city: z.number() }) });
      await expect(other.result()).rejects.toMatchObject({
        code: "output-invalid",
        message: expect.stringContaining("city: "),
      });
    },
  );

  thoroughTest("reads an output that is too long for a result from the transcript", async () => {
    const long = { ...WRITTEN, city: "x".repeat(40_000) };
    const { id, definition } = scripted(long);
    const session = await holdfast.start({ agent: definition, session: id, prompt: "Go", output: Forecast });
    const { output, json } = await session.result();
    expect([json, output?.city]).toEqual(["truncated", long.city]);
  });

  thoroughTest("has no output when the answer does not fit the schema [SO-01.3]", async () => {
    const { id, definition } = scripted({}, {});
    const session = await holdfast.start({ agent: definition, session: id, prompt: "Go", output: Forecast });
    const result = await session.tryResult();
    expect(result.outcome).toMatchObject({ type: "failed", fault: "schema-mismatch" });
    expect(result).not.toHaveProperty("output");
  });
});

describe("zodOutput", () => {
  test("is the schema that the model fills, closed unless the original is open [SO-01.1]", () => {
    const schema = z.object({ a: Forecast, b: z.looseObject({ c: z.string().optional() }) });
    const closed = {
      type: "object",
      properties: { city: { type: "string" }, degrees: { type: "number" } },
      required: ["city", "degrees"],
      additionalProperties: false,
    };
    expect(zodOutput(schema, { name: "x" })).toMatchObject({
      type: "json-schema",
      name: "x",
      schema: { properties: { a: closed, b: { additionalProperties: {} } }, additionalProperties: false },
    });
  });

  test("has the bounds that the schema states, and none for a whole number without bounds", () => {
    const { schema } = zodOutput(z.object({ count: z.number().int(), age: z.int().min(18) })) as {
      schema?: unknown;
    };
    expect(schema).toMatchObject({
      properties: { count: { type: "integer" }, age: { type: "integer", minimum: 18 } },
    });
    expect(JSON.stringify(schema)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  test("rejects what JSON Schema cannot express; the definition rejects a list", async () => {
    expect(() => zodOutput(z.object({ at: z.date() }))).toThrow(HoldfastError);
    const { definition } = scripted();
    await expect(
      holdfast.start({ agent: definition, prompt: "Go", output: z.array(z.string()) }),
    ).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining('found "array"'),
    });
  });
});

test("extractJson returns a typed value from a message, or what is wrong with it [PHI-09.2]", () => {
  const message = {
    role: "user" as const,
    timestamp: 0,
    content: [{ type: "text" as const, text: 'Not {"city":1} but {"city":"Ulm","degrees":4}, I think.' }],
  };
  expect(extractJson(message, Forecast)).toEqual({ type: "found", value: { city: "Ulm", degrees: "4°" } });
  expect(extractJson('{"city":1}', Forecast)).toMatchObject({
    type: "mismatch",
    reason: expect.stringContaining("city: "),
  });
  expect(extractJson("none", Forecast).type).toBe("missing");
});

describe("holdfast run --output-schema", () => {
  const run = async (task: string, texts: string[], ...more: string[]) => {
    stage.model.script({
      conversations: [
        {
          match: ({ firstUserText }) => firstUserText === task,
          replies: texts.map((text) => ({ text })),
        },
      ],
    });
    const file = join(folder, "schema.json");
    await writeFile(file, JSON.stringify({ type: "object", properties: { city: { type: "string" } } }));
    const { streams, said } = createTerminal();
    const model = ["--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl, "--tools", "none"];
    const where = ["--address", stage.address, "--namespace", stage.namespace, "--home", stage.home];
    const queue = ["--task-queue", stage.taskQueue];
    const args = ["run", task, ...model, ...where, ...queue, "--output-schema", file, ...more];
    return { code: await main(args, streams), ...said };
  };

  thoroughTest("prints only the JSON on standard output, and the run on standard error", async () => {
    const { code, out, err } = await run("Print it", [`\`\`\`json\n${JSON.stringify(WRITTEN)}\n\`\`\``]);
    expect({ code, out: JSON.parse(out), err }).toMatchObject({
      code: 0,
      out: WRITTEN,
      err: expect.stringContaining("```json"),
    });
    const lines = (await run("Print all", [JSON.stringify(WRITTEN)], "--json")).out.trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "result", output: WRITTEN, exitCode: 0 });
  });

  test("exits with 1 and prints nothing when the answer does not fit the schema [SO-01.3]", async () => {
    const { code, out, err } = await run("Fail", ['{"city":1}', "No."]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("schema-mismatch");
  });

  thoroughTest("rejects a file that holds no JSON", async () => {
    const { code, err } = await run("Refuse", [], "--output-schema", join(folder, "none.json"));
    expect([code, err]).toEqual([2, expect.stringContaining("of --output-schema cannot be read")]);
  });
});

thoroughTest("the examples of docs/structured-output.md work", async () => {
  const page = await readFile(new URL("../../docs/structured-output.md", import.meta.url), "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const declared =
    /const Forecast = (z\.object\([\s\S]*?\}\));?\n\n/.exec(code)?.[1]?.replace(/;$/, "") ?? "";
  const Documented = new Function("z", `return ${declared};`)(z) as z.ZodType;
  const value = { city: "Ulm", days: [{ date: "2026-01-01", degrees: 4 }] };
  const documented = scripted(value);
  const first = await holdfast.start({
    agent: documented.definition,
    session: documented.id,
    prompt: "Go",
    output: Documented,
  });
  expect(await first.result()).toMatchObject({ outcome: { type: "answered" }, output: value });

  const written = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "{}");
  const { id, definition } = stage.session({
    replies: [{ toolCalls: [{ name: "forecast", arguments: WRITTEN }] }],
  });
  const second = await holdfast.start({ agent: { ...definition, ...written }, session: id, prompt: "Go" });
  expect((await second.result()).output).toEqual(WRITTEN);
});
