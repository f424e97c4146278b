import { describe, expect, test } from "vitest";
import type { OpenedAgent } from "../../src/core/evaluation/digest.ts";
import {
  begunParts,
  type EvaluationProgress,
  endedPart,
  evaluationDashboard,
  evaluationStatus,
  partStatus,
} from "../../src/core/evaluation/progress.ts";
import { evaluationAccount, reserveParts } from "../../src/core/evaluation/shares.ts";
import { utf8Length } from "../../src/core/view/estimate.ts";
import { Limits } from "../../src/schema/definition.ts";

const agent = (number: number, limits: Partial<Limits> = {}): OpenedAgent => ({
  definitionHash: "h",
  agentName: `agent ${number}`,
  model: "m",
  loopId: `s.m.${number}`,
  number,
  limits: { ...Limits.parse({}), ...limits },
});

function progress(count: number, of: Partial<EvaluationProgress> = {}): EvaluationProgress {
  const branches = Array.from({ length: count }, (_, index) => agent(index + 1));
  return {
    session: "s",
    strategy: "judge",
    goal: "go",
    phase: "comparing",
    branches: [],
    waiting: 0,
    ...begunParts({
      evaluation: "e",
      at: { branch: "main", position: 0 },
      branches,
      judge: agent(count + 1),
    }),
    ...of,
  };
}

const report = { used: { turns: 2, tokens: 30, nanoUsd: 500_000_000, children: 0 } };

describe("where an evaluation stands", () => {
  test("turns and dollars are those of all parts that are over, the judge among them", () => {
    const begun = progress(2);
    const end = { loopId: "s.m.1", status: { type: "answered" } } as const;
    const [first, second] = begun.branches;
    const over = {
      ...begun,
      branches: [endedPart(first!, end, report, 9), second!],
      judge: endedPart(begun.judge!, end, report, 9),
    };
    expect(evaluationStatus(over)).toMatchObject({
      status: "running",
      doing: "running 2 branches, 1 of them over",
      turns: 4,
      costUsd: 1,
      agent: undefined,
      branches: [{ status: "answered", tokens: 30, endedAtMs: 9 }, { status: "starting" }],
    });
  });

  test("the word follows a stop and the outcome, and the chosen agent is the run's", () => {
    expect(evaluationStatus(progress(1, { stop: "enough" })).status).toBe("stopping");
    const ended = progress(2, {
      phase: "ended",
      outcome: { type: "answered", stopReason: "stop" },
      decision: { selected: 1, by: "strategy", reason: "Best." },
    });
    expect(evaluationStatus(ended)).toMatchObject({
      status: "completed",
      agent: "agent 2",
      loopId: "s.m.2",
      doing: "Best.",
    });
    const failed = { phase: "ended", outcome: { type: "failed", fault: "x", message: "y" } } as const;
    expect(evaluationStatus(progress(1, failed)).status).toBe("failed");
  });

  test("a reason is short however long the failure was", () => {
    const status = partStatus({ type: "failed", fault: "x", message: "y".repeat(5000) });
    expect(JSON.stringify(status).length).toBeLessThan(260);
  });

  test("the dashboard of the most branches fits the server's bound, whatever they are called", () => {
    const many = progress(200);
    const named = many.branches.map((part) => ({ ...part, agent: `|${"ä".repeat(300)}\n` }));
    const text = evaluationDashboard({ ...many, branches: named, goal: "x".repeat(4000) });
    expect(utf8Length(text)).toBeLessThan(20_000);
    expect(text).toContain("and 150 more");
  });
});

describe("what the parts of an evaluation may spend", () => {
  test("without limits each has what its own definition says, and no end of its own time is set", () => {
    const agents = [agent(1, { maxTurns: 3 }), agent(2)];
    const account = evaluationAccount(undefined, agents, 1000);
    const { reservations } = reserveParts(account, ["a", "b"], agents, 1000, true);
    expect(reservations).toMatchObject([
      { type: "reserved", given: { turns: 3, deadlineMs: null, depth: 1 } },
      { type: "reserved", given: { turns: 50, deadlineMs: null } },
    ]);
  });

  test("limits are shared out, with one share for a judge; who gets none is refused with a reason", () => {
    const agents = [agent(1), agent(2), agent(3)];
    const account = evaluationAccount({ maxTurns: 3, maxDurationMs: 500 }, agents, 1000);
    const shared = reserveParts(account, ["a", "b", "c"], agents, 1000, true);
    expect(shared.reservations).toMatchObject([
      { type: "reserved", given: { turns: 1, deadlineMs: 1500 } },
      { type: "reserved", given: { turns: 1 } },
      { type: "refused", reason: expect.stringMatching(/turns/) },
    ]);
    const [judge] = reserveParts(shared.account, ["judge"], [agent(4)], 1100, false).reservations;
    expect(judge).toMatchObject({ type: "reserved", given: { turns: 1 } });
  });
});
