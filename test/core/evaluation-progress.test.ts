import { describe, expect, test } from "vitest";
import { fillLimits } from "../../src/core/budget/limits.ts";
import type { OpenedAgent } from "../../src/core/evaluation/evaluation-digest.ts";
import { type EvaluationProgress, evaluationMode } from "../../src/core/evaluation/evaluation-progress.ts";
import { addBranches, buildBranchEnd, shareRequest } from "../../src/core/evaluation/parts.ts";
import { type JobState, openJob } from "../../src/core/job/job.ts";
import { jobDashboard } from "../../src/core/job/job-dashboard.ts";
import { buildJobStatus } from "../../src/core/job/job-status.ts";
import { beginPartWith, endPart, reserveShares } from "../../src/core/job/parts.ts";
import type { PartEnd } from "../../src/core/machine/task.ts";
import { countUtf8Bytes } from "../../src/core/view/estimate.ts";
import { Limits } from "../../src/schema/definition.ts";

const agent = (number: number, limits: Partial<Limits> = {}): OpenedAgent => ({
  definitionHash: "h",
  agentName: `agent ${number}`,
  model: "m",
  loopId: `s.m.${number}`,
  number,
  limits: { ...Limits.parse({}), ...limits },
});

const COMPARING: EvaluationProgress = {
  strategy: "judge",
  phase: "comparing",
  waitingMessages: { messages: 0, bytes: 0 },
};

function open(agents: readonly OpenedAgent[], limits: Partial<Limits> = {}): JobState {
  const plain = { job: "s", mode: "evaluation" as const, goal: "go", parts: [], nowMs: 0 };
  const at = { branch: "main", position: 0 };
  const opened = { evaluation: "e", at, branches: agents.slice(0, -1), limits };
  const judge = agents.at(-1);
  return addBranches(
    openJob({ ...plain, limits: fillLimits({}) }),
    { ...opened, ...(judge && { judge }) },
    1000,
  );
}

const evaluation = (branches: number) => open(Array.from({ length: branches + 1 }, (_, at) => agent(at + 1)));
const status = (state: JobState, progress: Partial<EvaluationProgress> = {}) =>
  buildJobStatus(state, evaluationMode(state, { ...COMPARING, ...progress }), 1000);

const answered = { type: "answered", stopReason: "stop" } as const;
const report = {
  session: "s",
  outcome: answered,
  branch: "b",
  tokens: 0,
  messages: 1,
  used: { turns: 2, tokens: 30, nanoUsd: 500_000_000, children: 0 },
};

function ended(state: JobState, part: number, end: PartEnd = { type: "reported", report }): JobState {
  const begun = beginPartWith(state, part, shareRequest(agent(1), part).own, 1000);
  return endPart(begun.state, part, end, 1009);
}

describe("the status of an evaluation", () => {
  test("sums the turns and cost of all ended parts, including the judge", () => {
    expect(status(ended(ended(evaluation(2), 0), 2))).toMatchObject({
      status: "running",
      statusText: "running 2 branches, 1 of them ended",
      turns: 4,
      costUsd: 1,
      agent: undefined,
      branches: [{ status: "answered", tokens: 30, endedAtMs: 1009 }, { status: "starting" }],
      judge: { status: "answered" },
      job: { mode: "evaluation", counts: { completed: 2, waiting: 1 } },
    });
  });

  test("reflects a stop and the outcome, and names the selected agent", () => {
    expect(status({ ...evaluation(1), stop: { reason: "enough" } }).status).toBe("stopping");
    const decision = { selected: 1, decidedBy: "strategy", reason: "Best." } as const;
    expect(status({ ...evaluation(2), outcome: answered }, { phase: "ended", decision })).toMatchObject({
      status: "completed",
      agent: "agent 2",
      loopId: "s.m.2",
      statusText: "Best.",
    });
    const failed = { type: "failed", fault: "x", message: "y" } as const;
    expect(status({ ...evaluation(1), outcome: failed }, { phase: "ended" }).status).toBe("failed");
  });

  test("shortens the reason of a failure, whatever its length", () => {
    const outcome = { type: "failed", fault: "x", message: "y".repeat(5000) } as const;
    const end = buildBranchEnd("s.m.1", { type: "reported", report: { ...report, outcome } });
    expect(JSON.stringify(end.status).length).toBeLessThan(260);
  });

  test.each([
    ["taken", "failed", /A run with the same name/],
    ["not-begun", "stopped", /before it began/],
    ["given-up", "stopped", /it was deaf/],
    ["ended", "stopped", /without a result: it was deaf/],
  ] as const)("shows a branch that is lost without a report (%s) as %s", (cause, type, reason) => {
    const lost: PartEnd = { type: "lost", reason: "it was deaf", cause };
    expect(buildBranchEnd("s.m.1", lost)).toMatchObject({
      loopId: "s.m.1",
      status: { type, reason: expect.stringMatching(reason) },
    });
    expect(status(ended(evaluation(1), 0, lost)).branches[0]?.status).toBe(type);
  });

  test("fits the server's limit in a dashboard with the maximum number of branches, whatever their names", () => {
    const named = Array.from({ length: 201 }, (_, at) => ({
      ...agent(at + 1),
      agentName: `|${"\u00e4".repeat(300)}\n`,
    }));
    const text = jobDashboard(status({ ...open(named), goal: "x".repeat(4000) }), [["Strategy", "judge"]]);
    expect(countUtf8Bytes(text)).toBeLessThan(20_000);
    expect(text).toContain("- **Strategy**: judge");
    expect(text).toContain("and 161 more");
  });
});

describe("the budget of an evaluation's parts", () => {
  test("equals the limits of each definition if the evaluation has none, without a deadline", () => {
    const agents = [agent(1, { maxTurns: 3 }), agent(2)];
    const { reservations } = reserveShares(open(agents), agents.map(shareRequest), 1000, 1);
    expect(reservations).toMatchObject([
      { type: "reserved", allocation: { turns: 3, deadlineMs: null, depth: 1 } },
      { type: "reserved", allocation: { turns: 50, deadlineMs: null } },
    ]);
  });

  test("is divided with one share for the judge; a branch without a share is denied with the reason", () => {
    const agents = [agent(1), agent(2), agent(3), agent(4)];
    const state = open(agents, { maxTurns: 3, maxDurationMs: 500 });
    const shared = reserveShares(state, agents.slice(0, 3).map(shareRequest), 1000, 1);
    expect(shared.reservations).toMatchObject([
      { type: "reserved", allocation: { turns: 1, deadlineMs: 1500 } },
      { type: "reserved", allocation: { turns: 1 } },
      { type: "denied", reason: expect.stringMatching(/turns/) },
    ]);
    const { reservations } = reserveShares(shared.state, [shareRequest(agent(4), 3)], 1100);
    expect(reservations).toMatchObject([{ type: "reserved", allocation: { turns: 1 } }]);
  });
});
