import { describe, expect, test } from "vitest";
import { fillLimits } from "../../src/core/budget/limits.ts";
import type { OpenedAgent } from "../../src/core/evaluation/evaluation-digest.ts";
import { type EvaluationProgress, evaluationMode } from "../../src/core/evaluation/evaluation-progress.ts";
import { addBranches, buildBranchEnd, shareRequest } from "../../src/core/evaluation/parts.ts";
import { type JobState, openJob } from "../../src/core/job/job.ts";
import { jobDashboard } from "../../src/core/job/job-dashboard.ts";
import { buildJobStatus } from "../../src/core/job/job-status.ts";
import { beginPartWith, endPart, reserveShares, startPart } from "../../src/core/job/parts.ts";
import type { PartEnd } from "../../src/core/machine/task.ts";
import { countUtf8Bytes } from "../../src/core/view/estimate.ts";
import { Limits } from "../../src/schema/limits.ts";

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

/** The last agent is the judge, if there is one. */
function open(agents: readonly OpenedAgent[], limits: Partial<Limits> = {}, hasJudge = true): JobState {
  const plain = { job: "s", mode: "evaluation" as const, goal: "go", parts: [], nowMs: 0 };
  const opened = { evaluation: "e", at: { branch: "main", position: 0 }, limits };
  const parts = hasJudge ? { branches: agents.slice(0, -1), judge: agents.at(-1)! } : { branches: agents };
  return addBranches(openJob({ ...plain, limits: fillLimits({}) }), { ...opened, ...parts }, 1000);
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

  test("shows what each branch has used, and where it runs", () => {
    const reserved = reserveShares(evaluation(2), [shareRequest(agent(1), 0)], 1000).state;
    const running = startPart(reserved, 0, 1002, "w");
    const begun = { agent: "agent 1", model: "m", loopId: "s.m.1", workflow: "w", startedAtMs: 1002 };
    const unused = { turns: 0, tokens: 0, costUsd: 0 };
    expect(evaluationMode(running, COMPARING)).toMatchObject({
      statusText: "running 2 branches, 0 of them ended",
      branches: [
        { ...begun, status: "running", ...unused },
        { agent: "agent 2", status: "starting", ...unused },
      ],
    });
    const over = endPart(running, 0, { type: "reported", report }, 1009);
    expect(evaluationMode(over, COMPARING).branches[0]).toEqual({
      ...begun,
      status: "answered",
      turns: 2,
      tokens: 30,
      costUsd: 0.5,
      endedAtMs: 1009,
    });
  });

  test("names the parts of the job, and has no judge if there is none", () => {
    expect(status(evaluation(2)).job.parts.map(({ name }) => name)).toEqual([
      "branch-1",
      "branch-2",
      "judge",
    ]);
    const alone = status(open([agent(1), agent(2)], {}, false));
    expect(alone.job.parts.map(({ name }) => name)).toEqual(["branch-1", "branch-2"]);
    expect(alone).not.toHaveProperty("judge");
  });

  test.each([
    ["opening", "opening the evaluation"],
    ["comparing", "running 3 branches, 1 of them ended"],
    ["judging", "calling the judge"],
    ["deciding", "choosing a branch"],
    ["ended", "nothing: the run has ended"],
  ] as const)("says what is done while %s", (phase, text) => {
    expect(status(ended(evaluation(3), 0), { phase }).statusText).toBe(text);
  });

  test("has the decision, but not its text where no text may be", () => {
    const decision = { selected: 0, decidedBy: "strategy", reason: "Best." } as const;
    const over = { phase: "ended", decision } as const;
    expect(status(evaluation(1), over)).toMatchObject({ statusText: "Best.", decision });
    expect(status(evaluation(1), { ...over, redactContent: true }).statusText).toBe(
      "nothing: the run has ended",
    );
    expect(status(evaluation(1))).not.toHaveProperty("decision");
  });

  test("counts the messages that wait for the session, and those without room", () => {
    const rejected = { messages: 1, newest: [{ id: "m", atMs: 5 }] };
    expect(status(evaluation(1), { waitingMessages: { messages: 2, bytes: 30 }, rejected })).toMatchObject({
      queued: { steering: 2, followUps: 0, bytes: 30 },
      rejectedMessages: rejected,
    });
    expect(status(evaluation(1))).not.toHaveProperty("rejectedMessages");
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

  test("has no reason for a branch that answered", () => {
    const end = buildBranchEnd("s.m.1", { type: "reported", report: { ...report, loopId: "s.m.2" } });
    expect(end).toEqual({ loopId: "s.m.2", status: { type: "answered" } });
  });

  test("shortens the reason of a failure, whatever its length", () => {
    const outcome = { type: "failed", fault: "x", message: "y".repeat(5000) } as const;
    const end = buildBranchEnd("s.m.1", { type: "reported", report: { ...report, outcome } });
    expect(JSON.stringify(end.status).length).toBeLessThan(260);
  });

  test.each([
    ["taken", "failed", /A run with the same name/],
    ["not-begun", "stopped", /before it began/],
    ["given-up", "stopped", /^it was deaf$/],
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

  test("is as deep as the deepest agent needs", () => {
    const agents = [agent(1), { ...agent(2), delegation: { maxDepth: 3, maxChildren: 5 } }, agent(3)];
    const { reservations } = reserveShares(open(agents), agents.map(shareRequest), 1000);
    expect(reservations).toMatchObject(
      [1, 3, 1].map((depth) => ({ type: "reserved", allocation: { depth } })),
    );
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
