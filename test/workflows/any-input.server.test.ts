import { WorkflowNotFoundError } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
// @ts-expect-error: a plain module, which the campaign reads too.
import { isNormalTaskFailure } from "../support/normal-task-failures.mjs";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

// Anyone who may connect to the server can send anything to a run and start runs with anything. A run may reject it, or
// fail with an error; its workflow task must not fail, since the server would retry it forever.

const RUNS = Number(process.env["FC_RUNS"] ?? 300);
const STARTS = Math.min(RUNS, 60);
const BATCH = 12;

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** The message of each failed workflow task of a run, except those of normal operation. */
async function failedTasks(workflowId: string): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) =>
    event.workflowTaskFailedEventAttributes == null ||
    isNormalTaskFailure(event.workflowTaskFailedEventAttributes.cause)
      ? []
      : [event.workflowTaskFailedEventAttributes.failure?.message ?? "?"],
  );
}

/** JSON in which names that the code reads are frequent. */
const NAMES = [
  ...["text", "ref", "id", "queue", "mode", "focus", "toolCallId", "answer", "arguments", "always", "reason"],
  ...["by", "values", "question", "definitionHash", "tools", "maxTurns", "loopId", "server", "hash", "added"],
  ...["prompt", "definition", "continuation", "kind", "at", "branch", "position", "task", "spawn", "given"],
  ...["share", "within", "evaluation", "number", "settings", "localSteps", "rotateAfterEvents", "resume"],
  ...["phase", "type", "agents", "strategy", "stages", "parts", "lead", "name", "agent", "limits", "policy"],
  ...["__proto__", "constructor", "toString", "length", "state", "grants", "commands", "words"],
];
const WORDS = [
  "approve",
  "deny",
  "steering",
  "all",
  "run",
  "interactive",
  "default",
  "rerun",
  "turn",
  "x",
  "",
];
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...WORDS, "a".repeat(64), "\ud800"),
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 5 }),
  ),
}));
const deep = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

const SIGNALS = [
  ...["steer", "followUp", "queueMode", "clearQueues", "compact", "toolListChanged", "wake", "stop?"],
  ...["__proto__", "no-such-signal"],
];
const UPDATES = [
  ...["prompt", "steerAcknowledged", "followUpAcknowledged", "approve", "raiseLimits", "updateDefinition"],
  "delegate",
];

thoroughTest(
  "no signal and no update, whatever its content, makes a workflow task of a run fail",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "bash", arguments: { command: "echo hi" } }] }, { text: "Done." }],
      agent: { tools: ["bash"], permissions: { otherwise: "ask" } },
    });
    const handle = await session.start("Go");
    await expect.poll(async () => (await session.readStatus()).status).toBe("needs-approval");
    const values = [
      ...fc.sample(json, { numRuns: RUNS, seed: 16 }),
      deep(3000),
      { answer: "approve", arguments: { a: deep(3000) } },
      { answer: "approve", toolCallId: { toString: 1 }, values: { toString: 1, valueOf: 1 } },
      { loopId: "x", server: "__proto__", hash: "y", added: [], removed: [], changed: [] },
    ];
    // A valid answer would end the wait, and a valid message would be accepted: both are allowed.
    const sends = values.flatMap((value, index) => [
      () => handle.signal(SIGNALS[index % SIGNALS.length]!, value),
      () => {
        const isAnswer = typeof value === "object" && value !== null && "answer" in value;
        const update = isAnswer ? "approve" : UPDATES[index % UPDATES.length]!;
        return handle.executeUpdate(update, { args: [value] });
      },
    ]);
    for (let at = 0; at < sends.length; at += BATCH) {
      await Promise.allSettled(sends.slice(at, at + BATCH).map((send) => send()));
    }
    expect(await failedTasks(session.id)).toEqual([]);
    // A valid answer among the inputs may have ended the run already.
    await handle.signal("stop", { toString: 7 }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(WorkflowNotFoundError);
    });
    await handle.result().catch(() => undefined);
    expect(await failedTasks(session.id)).toEqual([]);
  },
  240_000,
);

const TYPES = [
  "agent",
  "evaluation",
  "pipeline",
  "fanOut",
  "autonomous",
  "supervisor",
  "retention",
  "wakeJob",
] as const;

async function startRaw(type: string, workflowId: string, payloads: readonly object[]): Promise<void> {
  await stage.client.workflowService.startWorkflowExecution({
    namespace: stage.namespace,
    workflowId,
    workflowType: { name: type },
    taskQueue: { name: stage.taskQueue },
    input: { payloads: payloads as never },
    requestId: workflowId,
    identity: "test",
  });
}

/** The failure of a run that may not end at once, or undefined. */
async function endOf(workflowId: string): Promise<string | undefined> {
  const handle = stage.client.workflow.getHandle(workflowId);
  const stopped = setTimeout(
    () => void handle.terminate("the test has waited long enough").catch(() => {}),
    20_000,
  );
  try {
    await handle.result();
    return undefined;
  } catch (error) {
    const { cause } = error as { cause?: Error };
    return cause?.message ?? String(error);
  } finally {
    clearTimeout(stopped);
  }
}

thoroughTest(
  "no exported workflow can be started with arguments that make its task fail",
  async () => {
    const { Payload } = temporal.api.common.v1;
    const asJson = (value: unknown) =>
      Payload.create({
        metadata: { encoding: Buffer.from("json/plain") },
        data: Buffer.from(JSON.stringify(value) ?? "null"),
      });
    const chosen: readonly unknown[] = [
      ...[null, 7, "x", [], {}, deep(3000), { settings: "x" }, { settings: { rotateAfterEvents: "x" } }],
      ...[{ resume: {} }, { resume: { grants: "abc" } }, { resume: null }, { prompt: "x", share: 1 }],
      ...[
        { prompt: "x", task: {} },
        { within: {} },
        { within: 7 },
        { prompt: "x", continuation: { kind: 5 } },
      ],
      ...[{ task: "x", stages: [null] }, { parts: [null] }, { task: "x", lead: "x", agents: [null] }],
      ...[{ task: "x", definitionHash: "x", carried: { job: 7 } }, { policy: {}, done: 7 }, { job: 7 }],
      ...[{ prompts: 7 }, { agents: "x", strategy: "y" }],
    ];
    const values = [...chosen, ...fc.sample(json, { numRuns: STARTS, seed: 17 })];
    const unreadable = [
      Payload.create({ metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from("no json") }),
      Payload.create({ metadata: { encoding: Buffer.from("binary/unknown") }, data: Buffer.from("?") }),
    ];
    const starts = values.flatMap((value, index) => {
      const types = index < chosen.length ? TYPES : [TYPES[index % TYPES.length]!];
      return types.map((type) => ({ type, payload: asJson(value) }));
    });
    for (const type of TYPES) for (const payload of unreadable) starts.push({ type, payload });
    const found: string[] = [];
    for (let at = 0; at < starts.length; at += BATCH) {
      await Promise.all(
        starts.slice(at, at + BATCH).map(async ({ type, payload }, index) => {
          const id = `any-${type}-${at + index}-${Math.random().toString(36).slice(2)}`;
          await startRaw(type, id, [payload]);
          await endOf(id);
          for (const message of await failedTasks(id)) {
            found.push(
              `${type} ${Buffer.from(payload.data ?? [])
                .toString()
                .slice(0, 120)}: ${message}`,
            );
          }
        }),
      );
    }
    expect(found).toEqual([]);
  },
  400_000,
);

thoroughTest("a run that is started with an invalid state reports what is wrong", async () => {
  const session = stage.session();
  await startRaw("agent", session.id, [
    {
      metadata: { encoding: Buffer.from("json/plain") },
      data: Buffer.from(JSON.stringify({ resume: { grants: [{ tool: "bash", commands: "abc" }] } })),
    },
  ]);
  expect(await endOf(session.id)).toContain(
    "The run cannot begin: the field `resume` is reserved for continue-as-new; start it without this field",
  );
});
