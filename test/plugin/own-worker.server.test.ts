import { randomUUID } from "node:crypto";
import { WorkflowFailedError } from "@temporalio/client";
import { ActivityFailure, ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentDefinitionInput } from "../../src/schema/definition.ts";
import type { ScriptedConversation } from "../../src/testing/model-server/script.ts";
import { createTestAgent, type TestAgentOptions } from "../../src/testing/test-agent.ts";
import { defineTool } from "../../src/tools/tool.ts";
import type { RunResult } from "../../src/workflows/run-result.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "../workflows/support/gates.ts";
import { listTexts } from "../workflows/support/list-texts.ts";
import {
  openTestEnvironment,
  TEST_KEY,
  type TestEnvironment,
} from "../workflows/support/test-environment.ts";
import { type OwnWorker, startOwnWorker, WORKFLOWS } from "./support/own-worker.ts";
import { LONG_WORDS, SECRET_PARTS } from "./support/workflows.ts";

const SEVERITY = {
  type: "object",
  properties: { severity: { enum: ["low", "high"] } },
  required: ["severity"],
  additionalProperties: false,
};
let report: () => void = () => undefined;
const reported = new Promise<void>((resolve) => {
  report = resolve;
});
const ACTIVITIES = {
  greet: async (name: string) => `Hello, ${name}`,
  failPlainly: async () => {
    throw new Error(`the application knows ${TEST_KEY}`);
  },
  report: async () => report(),
};
const SECRET = SECRET_PARTS.join("-");
const gates = new Gates();
const lookUp = defineTool({
  name: "look_up",
  description: "Looks up a word",
  inputSchema: z.object({ word: z.string() }),
  replay: "pure",
  execute: ({ word }) => `${word} is known`,
});

const SCRIPT: Readonly<Record<string, NonNullable<ScriptedConversation["replies"]>>> = {
  triage: [
    { toolCalls: [{ name: "look_up", arguments: { word: "fire" } }] },
    { toolCalls: [{ name: "final_answer", arguments: { severity: "high" } }] },
  ],
  converse: [
    { toolCalls: [{ name: "hold", arguments: { gate: "converse" } }] },
    { text: "steered once" },
    { text: "steered twice" },
    { text: "followed" },
  ],
  stopOnSignal: [{ toolCalls: [{ name: "hold", arguments: { gate: "stop" } }] }],
  cancellable: [{ toolCalls: [{ name: "hold", arguments: { gate: "cancel" } }] }],
};

let stage: TestEnvironment;
let own: OwnWorker;
const agents: Record<string, AgentDefinitionInput> = {};

// Bundling takes long on a busy machine.
const START_TIMEOUT_MS = 120_000;

beforeAll(async () => {
  stage = await openTestEnvironment({ worker: false });
  const define = (name: string, more: TestAgentOptions = {}) => {
    agents[name] = createTestAgent(stage.model, {
      name,
      systemPrompt: `You are ${name}`,
      workspace: stage.home,
      ...more,
    });
  };
  define("triage", { tools: ["look_up"], output: { type: "json-schema", schema: SEVERITY } });
  for (const name of ["converse", "stopOnSignal", "cancellable"]) define(name, { tools: ["hold"] });
  define("failing", { retry: { maxRetries: 0 } });
  stage.model.script({
    conversations: [
      ...Object.entries(SCRIPT).map(([name, replies]) => ({
        match: `You are ${name}`,
        replies,
      })),
      { match: "You are failing", faults: [{ fault: "auth" as const, times: 9 }] },
    ],
  });
  own = await startOwnWorker(
    stage,
    { agents, tools: [lookUp, gates.createTool()] },
    { activities: ACTIVITIES, workflowBundle: undefined as never, workflowsPath: WORKFLOWS },
  );
}, START_TIMEOUT_MS);
afterAll(async () => {
  await own.stop();
  await stage.close();
});

const start = async (workflow: string, ...args: unknown[]) =>
  await stage.client.workflow.start(workflow, {
    args,
    taskQueue: stage.taskQueue,
    workflowId: `${workflow}-${randomUUID()}`,
  });

async function readHistory(workflowId: string): Promise<string> {
  return listTexts(await stage.client.workflow.getHandle(workflowId).fetchHistory()).join("\n");
}

describe("a workflow of the application", () => {
  test("runs an agent between its own activities, and gets a typed output", async () => {
    const run = await start("triage", "triage");
    const [said = "", session = ""] = ((await run.result()) as string).split(" in ");
    expect(said).toBe("Hello, world: high");
    const history = await readHistory(session);
    // The tool's own name is the type of its activity.
    expect(history).toContain("look_up");
    expect(await listActivities(session)).toEqual([
      "open-loop",
      "call-model",
      "look_up",
      "call-model",
      "close-loop",
    ]);
  });

  test("leaves no prompt, no definition and no key in either history", async () => {
    const run = await start("triage", "triage");
    const session = ((await run.result()) as string).split(" in ")[1] ?? "";
    for (const history of [await readHistory(run.workflowId), await readHistory(session)]) {
      expect(history).not.toContain(SECRET);
      expect(history).not.toContain("You are triage");
      expect(history).not.toContain(TEST_KEY);
    }
    expect(await readPrompt(session)).toBe(SECRET);
  });

  thoroughTest("passes a definition that it has itself", async () => {
    const run = await start("triage", { ...agents["triage"], name: "of its own" });
    expect(await run.result()).toContain("Hello, world: high");
  });

  test("sends messages in order, which its history does not contain", async () => {
    const run = await start("converse", "converse");
    await gates.get("converse").arrived;
    await reported;
    gates.get("converse").open();
    const result = (await run.result()) as RunResult;
    expect(result).toMatchObject({ outcome: { type: "answered" }, text: "followed" });
    const { session, branch } = result;
    const entries = await stage.transcript.readEntries(session, branch, 0, 100);
    const asked = entries.flatMap(({ message }) => (message.role === "user" ? [readText(message)] : []));
    expect(asked.map((text) => text.slice(0, SECRET.length))).toEqual([
      SECRET,
      "STEER-1",
      "STEER-2",
      "FOLLOW-1",
    ]);
    expect(asked[0]).toHaveLength(SECRET.length + 1 + LONG_WORDS * "long ".length);
    for (const history of [await readHistory(run.workflowId), await readHistory(session)]) {
      expect(history).not.toMatch(/STEER-1|FOLLOW-1|long long/);
    }
  });

  test("stops its agent, whose result says so", async () => {
    const run = await start("stopOnSignal", "stopOnSignal");
    await gates.get("stop").arrived;
    await run.signal("stopAgent");
    expect(await run.result()).toMatchObject({
      outcome: { type: "stopped", reason: "the application has seen enough" },
    });
  });

  thoroughTest("that is cancelled cancels its agent, and its code sees a cancellation", async () => {
    const run = await start("cancellable", "cancellable");
    await gates.get("cancel").arrived;
    await run.cancel();
    expect(await run.result()).toBe("cancelled");
    const [session = ""] = await listChildren(run.workflowId);
    expect(await stage.client.workflow.getHandle(session).result()).toMatchObject({
      outcome: { type: "stopped", reason: "the workflow was cancelled" },
    });
    const [loop] = await stage.transcript.readLoops(session);
    expect(loop?.outcome).toMatchObject({ type: "stopped" });
  });

  test("gets the outcome of a failed run with tryResult, and fails with result", async () => {
    expect(await (await start("failing", "failing", "try")).result()).toBe("auth");
    const failure = await (await start("failing", "failing", "throw")).result().catch((error) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect(failure.cause.cause).toMatchObject({ type: "holdfast/run-failed" });
  });

  test("fails with a reason when the agent is unknown, or its definition invalid", async () => {
    const unknown = await (await start("triage", "triag")).result().catch((error) => error);
    expect(unknown.cause.message).toBe(
      'Unknown agent "triag": did you mean "triage"? Add it to `agents` of holdfastPlugin(), or pass a definition.',
    );
    const invalid = await (await start("triage", { name: "half" })).result().catch((error) => error);
    expect(invalid.cause).toMatchObject({ type: "definition/invalid", nonRetryable: true });
  });
});

describe("the application's worker", () => {
  test("fails an unknown activity type as Temporal does", async () => {
    const failure = await (await start("callAbsent")).result().catch((error) => error);
    expect(failure.cause).toBeInstanceOf(ActivityFailure);
    expect(failure.cause.cause).toMatchObject({
      type: "NotFoundError",
      message: expect.stringContaining("Activity function absent is not registered on this Worker"),
    });
  });

  test("leaves the failures of its own activities as they are", async () => {
    const failure = await (await start("callFailing")).result().catch((error) => error);
    expect(failure.cause.cause).toBeInstanceOf(ApplicationFailure);
    expect(failure.cause.cause.message).toBe(`the application knows ${TEST_KEY}`);
  });
});

async function listActivities(workflowId: string): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? [],
  );
}

async function listChildren(workflowId: string): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    ({ startChildWorkflowExecutionInitiatedEventAttributes: one }) => one?.workflowId ?? [],
  );
}

async function readPrompt(session: string): Promise<string> {
  const [first] = await stage.transcript.readEntries(session, "main", 0, 1);
  return first?.message.role === "user" ? readText(first.message) : "";
}

function readText({
  content,
}: {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}): string {
  return content.map(({ text = "" }) => text).join("");
}
