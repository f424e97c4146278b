import { expect, test } from "vitest";
import { applyStatus, stepFacts } from "../../../src/apps/cli/chat/chat-facts.ts";
import { findChatWait, formatChatWait, type ObservedRun } from "../../../src/apps/cli/chat/chat-wait.ts";
import { type ChatFacts, formatStatusLine, formatTokens } from "../../../src/apps/cli/chat/status-line.ts";
import type { AgentEvent, PendingActivity, SessionStatus } from "../../../src/client/index.ts";

const FACTS: ChatFacts = {
  session: "5f0c1234",
  model: "claude-sonnet-5-5",
  contextTokens: 84_321,
  contextWindow: 200_000,
  costUsd: 0.4,
  turns: 7,
  pending: [],
};

test("the line has the state, the model, the context, the cost, the turn and the session", () => {
  expect(formatStatusLine(FACTS, { type: "user" }, 100, 0)).toBe(
    "ready · claude-sonnet-5-5 · 84k/200k (42%) · $0.40 · turn 7 · 5f0c1234",
  );
  expect(formatStatusLine({ ...FACTS, costUsd: null }, { type: "user" }, 100, 0)).toContain("cost unknown");
  expect(formatStatusLine({ session: "5f0c1234", pending: [] }, { type: "user" }, 100, 0)).toBe(
    "ready · 5f0c1234",
  );
});

test("what changes least leaves a narrow line first, and the state stays", () => {
  const at = (width: number) => formatStatusLine(FACTS, { type: "user" }, width, 0);
  expect(at(60)).toBe("ready · claude-sonnet-5-5 · 84k/200k (42%) · $0.40 · turn 7");
  expect(at(40)).toBe("ready · 84k/200k (42%) · $0.40");
  expect(at(3)).toBe("ready");
});

test.each([
  [0, "0"],
  [999, "999"],
  [1_000, "1k"],
  [1_250, "1.3k"],
  [9_960, "10k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [2_000_000, "2M"],
])("%d tokens are %s", (tokens, text) => {
  expect(formatTokens(tokens)).toBe(text);
});

const RUN: ObservedRun = { phase: "running", approvals: 0, blocks: [], sinceMs: 0, pending: [] };
const step = (more: Partial<PendingActivity>): PendingActivity =>
  ({ type: "callModel", attempt: 1, state: "started", ...more }) as PendingActivity;

test.each<[string, Partial<ObservedRun>, string]>([
  ["nothing runs", { phase: "idle" }, "ready"],
  ["the run stops", { phase: "stopping", approvals: 1 }, "stopping"],
  ["a user", { approvals: 2 }, "waits for 2 approvals"],
  ["the model", {}, "model 12 s"],
  ["a worker", { pending: [step({ state: "scheduled" })] }, "waits for a worker"],
  [
    "a retry",
    { pending: [step({ attempt: 3, nextAttemptAt: new Date(17_000) })] },
    "retry 2 of callModel in 5 s",
  ],
  [
    "a vendor",
    { pending: [step({ wait: { type: "vendor", vendor: "anthropic", untilMs: 90_000 } as never })] },
    "waits for anthropic 1 min 18 s",
  ],
  ["the store", { pending: [step({ wait: { type: "store" } as never })] }, "waits for the transcript"],
  [
    "tools",
    { blocks: ["bash", "grep"].map((name) => ({ type: "tool", state: "running", name }) as never) },
    "bash and 1 more 12 s",
  ],
])("the run waits for: %s", (_what, observed, text) => {
  expect(formatChatWait(findChatWait({ ...RUN, ...observed }, 12_000), 12_000)).toBe(text);
});

test("the facts follow the events: the vendor's own count of the context, and less after a compaction", () => {
  const started = stepFacts({ session: "s", pending: [] }, {
    type: "AgentStart",
    configSnapshot: { model: "m-1", contextWindow: 1_000, definitionHash: "" },
  } as AgentEvent);
  expect(started).toMatchObject({ model: "m-1", contextWindow: 1_000 });
  const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 1 };
  const answered = stepFacts(started, {
    type: "MessageEnd",
    message: { role: "assistant", usage },
  } as AgentEvent);
  expect(answered.contextTokens).toBe(116);
  const failed = {
    type: "MessageEnd",
    message: { role: "assistant", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
  };
  expect(stepFacts(answered, failed as AgentEvent).contextTokens).toBe(116);
  const compacted = { type: "CompactionEnded", estimatedTokensAfter: 40 } as AgentEvent;
  expect(stepFacts(answered, compacted).contextTokens).toBe(40);
  const status = {
    turns: 3,
    costUsd: 0.1,
    contextTokens: 7,
    model: "m-2",
    pending: [],
  } as unknown as SessionStatus;
  expect(applyStatus(answered, status)).toMatchObject({
    turns: 3,
    costUsd: 0.1,
    contextTokens: 116,
    model: "m-1",
  });
  expect(applyStatus({ session: "s", pending: [] }, status)).toMatchObject({
    contextTokens: 7,
    model: "m-2",
  });
});
