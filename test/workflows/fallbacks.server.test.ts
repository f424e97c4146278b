import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentDefinitionInput } from "../../src/schema/definition.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const fallback = (): AgentDefinitionInput["model"] => ({
  id: "backup-model",
  api: "openai_completions",
  provider: "openai",
  baseUrl: stage.model.openaiBaseUrl,
  apiKey: `\${${TEST_KEY_NAME}}`,
  contextWindow: 200_000,
  cost: { input: 1_000_000, output: 1_000_000 },
});

const retry = { maxRetries: 2, initialDelayMs: 1 };

thoroughTest(
  "after a busy model's retries are used up, a fallback answers, and the record says so [PROV-28]",
  async () => {
    const session = stage.session({
      faults: [{ fault: "overloaded", times: 3, onTurn: 0 }],
      replies: [{ text: "never" }, { text: "Mine again." }],
      agent: { fallbacks: [fallback()], retry },
    });
    const before = stage.model.requests.length;
    await session.start("Go");
    await session.readResult();
    const asked = stage.model.requests.slice(before).map(({ model }) => model);
    expect(asked).toEqual(["test-model", "test-model", "test-model", "backup-model"]);
    const [entry] = (await session.readEntries()).filter(({ message }) => message.role === "assistant");
    expect(entry?.message).toMatchObject({ model: "backup-model", provider: "openai" });
    const [loop] = await stage.transcript.readLoops(session.id);
    const { input, output } = loop?.usage ?? { input: 0, output: 0 };
    expect(loop?.costUsd).toBe(input + output);
    expect(input + output).toBeGreaterThan(0);
    const told = (await session.readEvents()).map(({ body }) => body);
    const at = told.findIndex(({ type }) => type === "ModelFallback");
    expect(told[at]).toMatchObject({
      turn: 0,
      to: { provider: "openai", model: "backup-model" },
      from: [{ provider: "anthropic", model: "test-model", fault: "rate-limited" }],
    });
    expect(told[at + 1]?.type).toBe("MessageStart");
  },
);

test("a model that was found down is skipped by later turns and by summaries, which a fallback writes [PROV-28]", async () => {
  const text = "All work and no play makes a long day. ".repeat(60);
  const look = { text, toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
  const usage = { input: 6000, output: 0 };
  const session = stage.session({
    replies: Array.from({ length: 6 }, () => ({ ...look, usage })),
    agent: {
      tools: ["list_files"],
      retry: { maxRetries: 0, initialDelayMs: 1 },
      limits: { maxTurns: 6 },
      context: {
        maxContextTokens: 6000,
        systemPromptTokens: 100,
        compaction: {
          ...{ strategy: "summary", keepFirstTurns: 1, keepRecentTurns: 1 },
          ...{ maxSummaryTokens: 200, toolOutputMaxLines: 2 },
        },
      },
    },
  });
  const { model: own } = session.definition;
  const spare = { ...own, id: "spare", cost: { input: 1000, output: 1000 } };
  const gone = { ...own, baseUrl: "http://127.0.0.1:9", cost: { input: 1, output: 1 } };
  const definition = { ...session.definition, model: gone, fallbacks: [spare] };
  await session.start("Go", { definition });
  await session.readResult();
  const told = (await session.readEvents()).flatMap(({ body }) =>
    body.type === "ModelFallback" ? [body] : [],
  );
  const forTurns = told.filter((body) => body.for === undefined);
  expect(forTurns).toHaveLength(6);
  expect(forTurns[0]?.from[0]?.message).not.toContain("not asked");
  for (const { from } of forTurns.slice(1)) {
    expect(from).toMatchObject([{ model: "test-model", fault: "network" }]);
    expect(from[0]?.message).toMatch(/^not called again for \d+ s: /);
  }
  const summaries = told.filter((body) => body.for === "compaction");
  expect(summaries.length).toBeGreaterThan(0);
  expect(summaries[0]?.to.model).toBe("spare");
  // Every request was answered at the fallback's price, including those for summaries.
  const requests = session.listRequests().length;
  expect(requests).toBeGreaterThan(6);
  expect((await session.readStatus()).costUsd).toBeCloseTo(requests * 6);
});

test("a fallback with another output mode is instructed, checked and displayed by that mode [PROV-28, SO-01.2]", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const session = stage.session({
    replies: [{ toolCalls: [{ name: "structured_output", arguments: { n: 7 } }] }],
    agent: { retry: { maxRetries: 0 }, output: { type: "json-schema", name: "structured_output", schema } },
  });
  const { model: spare } = session.definition;
  const gone = { ...fallback(), baseUrl: "http://127.0.0.1:9/v1", provider: "openai" };
  const definition = { ...session.definition, model: gone, fallbacks: [spare] };
  await session.start("Go", { definition });
  expect(await session.readResult()).toMatchObject({ text: '{"n":7}' });
  const [request] = session.listRequests();
  expect(JSON.stringify(request?.body?.["tools"])).toContain("structured_output");
  const holdfast = await connectClient(stage);
  try {
    const shown = await holdfast.session(session.id).messages.request();
    expect(shown.model.id).toBe("test-model");
    expect(shown.tools?.map(({ name }) => name)).toEqual(["structured_output"]);
  } finally {
    await holdfast.close();
  }
});

test("when no fallback answers, the run fails with the model's own failure [PROV-28]", async () => {
  const session = stage.session({
    faults: [{ fault: "auth", times: 9 }],
    agent: { fallbacks: [{ ...fallback(), baseUrl: "http://127.0.0.1:9/v1" }], retry },
  });
  await session.start("Go");
  const { readResult } = await session.readFailure();
  expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "auth" });
  expect(JSON.stringify(readResult?.outcome)).toContain("openai/backup-model");
});
