import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentDefinitionInput } from "../../src/schema/definition.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
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

test("a busy model's retries are used up, a fallback answers, and the record says so [PROV-28]", async () => {
  const session = stage.session({
    faults: [{ fault: "overloaded", times: 3, onTurn: 0 }],
    replies: [{ text: "never" }, { text: "Mine again." }],
    agent: { fallbacks: [fallback()], retry },
  });
  const before = stage.model.requests.length;
  await session.start("Go");
  await session.result();
  const asked = stage.model.requests.slice(before).map(({ model }) => model);
  expect(asked).toEqual(["test-model", "test-model", "test-model", "backup-model"]);
  const [entry] = (await session.entries()).filter(({ message }) => message.role === "assistant");
  expect(entry?.message).toMatchObject({ model: "backup-model", provider: "openai" });
  const [loop] = await stage.transcript.loops(session.id);
  const { input, output } = loop?.usage ?? { input: 0, output: 0 };
  expect(loop?.costUsd).toBe(input + output);
  expect(input + output).toBeGreaterThan(0);
  const told = (await session.events()).map(({ body }) => body);
  const at = told.findIndex(({ type }) => type === "ModelFellBack");
  expect(told[at]).toMatchObject({
    turn: 0,
    to: { provider: "openai", model: "backup-model" },
    from: [{ provider: "anthropic", model: "test-model", fault: "rate-limited" }],
  });
  expect(told[at + 1]?.type).toBe("MessageStart");
});

test("when no fallback answers the run fails with the model's own failure [PROV-28]", async () => {
  const session = stage.session({
    faults: [{ fault: "auth", times: 9 }],
    agent: { fallbacks: [{ ...fallback(), baseUrl: "http://127.0.0.1:9/v1" }], retry },
  });
  await session.start("Go");
  const { result } = await session.failure();
  expect(result?.outcome).toMatchObject({ type: "failed", fault: "auth" });
  expect(JSON.stringify(result?.outcome)).toContain("openai/backup-model");
});
