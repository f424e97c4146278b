import { expect, test } from "vitest";
import { EvaluationProgress, formatEvaluation } from "../../src/apps/cli/evaluation-progress.ts";
import type { AgentEvent, EvaluatedBranch, EvaluationOutcome } from "../../src/client/index.ts";

const USAGE = { input: 10, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 15 };

const timestamp = "2026-01-01T00:00:00.000Z";
const turn = (loopId: string): AgentEvent => ({
  type: "TurnEnd",
  loopId,
  turnIndex: 0,
  message: {
    role: "assistant",
    content: [],
    stopReason: "stop",
    model: "m",
    provider: "p",
    usage: USAGE,
    timestamp: 0,
  },
  usage: USAGE,
  timestamp,
  toolResults: [],
});

test("each branch reports its activity under its number, and any other loop is the judge", () => {
  const board = new EvaluationProgress();
  expect(
    board.formatEvent({ type: "ParallelLoopStart", sessionId: "s", loopIds: ["l.1", "l.2"], timestamp }),
  ).toBeUndefined();
  expect(board.formatEvent(turn("l.2"))).toBe("branch 2 · 1 turn · 15 tokens");
  expect(board.formatEvent(turn("l.2"))).toBe("branch 2 · 2 turns · 30 tokens");
  expect(board.formatEvent(turn("l.1"))).toBe("branch 1 · 1 turn · 15 tokens");
  expect(board.formatEvent(turn("l.3"))).toBe("judge · 1 turn · 15 tokens");
  const progress = (toolCallId: string): AgentEvent => ({
    type: "ProgressMessage",
    loopId: "l.3",
    toolCallId,
    toolName: "judge",
    text: "half",
  });
  expect(board.formatEvent(progress("evaluation"))).toBe("half");
  expect(board.formatEvent(progress("call-1"))).toBeUndefined();
  const outcome = { type: "stopped" as const, reason: "x" };
  expect(
    board.formatEvent({ type: "AgentEnd", loopId: "l.1", messages: [], usage: USAGE, outcome, timestamp }),
  ).toBe("branch 1 ended: stopped");
});

const branch = (index: number, of: Partial<EvaluatedBranch> = {}): EvaluatedBranch => ({
  index,
  agentName: `agent-${index}`,
  model: "m",
  originalContextLength: 0,
  length: 2,
  status: { type: "answered" },
  usage: USAGE,
  textBytes: 3,
  turns: 1,
  costUsd: 0.25,
  startedAtMs: 1000,
  endedAtMs: 2500,
  ...of,
});

test("the table lists all branches in the order of their configurations, with a star at the selected one", () => {
  const failed = branch(0, { status: { type: "failed", reason: "x" }, costUsd: null, startedAtMs: 1000 });
  const { endedAtMs: _, ...open } = failed;
  const outcome = { selected: branch(1), otherBranches: [open, branch(2)] } as unknown as EvaluationOutcome;
  expect(formatEvaluation(outcome)).toEqual([
    ["", "agent", "model", "status", "turns", "tokens", "cost", "seconds"],
    ["", "agent-0", "m", "failed", "1", "15", "—", "-"],
    ["*", "agent-1", "m", "answered", "1", "15", "$0.2500", "1.5"],
    ["", "agent-2", "m", "answered", "1", "15", "$0.2500", "1.5"],
  ]);
});
