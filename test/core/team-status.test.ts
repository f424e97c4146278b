import { describe, expect, test } from "vitest";
import { NO_LIMITS } from "../../src/core/budget/limits.ts";
import type { JobState } from "../../src/core/job/job.ts";
import { endPart } from "../../src/core/job/parts.ts";
import { beginMember, LEAD_PART, openTeam } from "../../src/core/job/team.ts";
import { buildTeamResult, buildTeamStatus, buildTeamView } from "../../src/core/job/team-status.ts";
import type { PartEnd } from "../../src/core/machine/task.ts";
import { ANSWERED, reported } from "./support/jobs.ts";

const TEAM = {
  agents: [{ name: "scout", description: "a scout", definitionHash: "hash" }],
  maxAgents: 1000,
};

/** A team whose lead has delegated this many tasks. */
function delegated(tasks: number): JobState {
  let { state } = openTeam({ job: "job", goal: "mend it", limits: NO_LIMITS, nowMs: 0 }, TEAM);
  for (let at = 1; at <= tasks; at += 1) {
    const begun = beginMember(state, TEAM, { agent: "scout", task: `task ${at}` }, 0);
    if (begun.type === "denied") throw new Error(begun.reason);
    state = begun.state;
  }
  return state;
}

const over = (state: JobState, part: number, end: PartEnd = reported(1)) => endPart(state, part, end, 0);
/** From the second one on, when there are more than a hundred. */
const newest = Array.from({ length: 100 }, (_, at) => `scout-${at + 2}`);

describe("the lead's view of its team", () => {
  test("lists the agents that it may name, and all members, the newest hundred at most", () => {
    const state = delegated(101);
    const view = buildTeamView(state, TEAM);
    expect(view.agents).toEqual([{ name: "scout", description: "a scout" }]);
    expect(view.members.map(({ id }) => id)).toEqual(newest);
    expect(view.unknown).toEqual([]);
    expect(buildTeamView(state, TEAM, [])).toEqual(view);
    expect(buildTeamView(state, TEAM, ["scout-1"]).members).toMatchObject([{ id: "scout-1" }]);
  });

  test("has ended when the lead has", () => {
    const state = delegated(1);
    expect(buildTeamView(state, TEAM).isEnded).toBe(false);
    expect(buildTeamView(over(state, LEAD_PART), TEAM).isEnded).toBe(true);
  });

  test("shows what a member used when it has ended, and where its answer is", () => {
    const used = { turns: 3, tokens: 9, nanoUsd: 500_000_000, children: 0 };
    const state = over(delegated(2), 1, reported(3, { used, position: 4 }));
    const running = { agent: "scout", status: "running" };
    expect(buildTeamView(state, TEAM).members).toEqual([
      {
        id: "scout-1",
        agent: "scout",
        session: "job.scout-1",
        task: "task 1",
        status: "completed",
        lastAnswer: { branch: "main", position: 4 },
        spent: { turns: 3, costUsd: 0.5 },
      },
      { ...running, id: "scout-2", session: "job.scout-2", task: "task 2" },
    ]);
  });

  test.each([
    [reported(1, { outcome: { type: "failed", fault: "auth", message: "no key" } }), "auth: no key"],
    [reported(1, { outcome: { type: "stopped", reason: "enough" } }), "enough"],
    [
      { type: "lost", reason: "it was terminated", cause: "ended" } as const,
      "it ended without a result: it was terminated",
    ],
    [reported(1), undefined],
  ])("says why a member ended without an answer", (end, reason) => {
    expect(buildTeamView(over(delegated(1), 1, end), TEAM).members[0]?.reason).toBe(reason);
  });
});

describe("the status of a team", () => {
  test("lists the lead, the running members, and those that have ended, the newest first", () => {
    const state = over(over(delegated(4), 1), 2, reported(1, { outcome: { type: "stopped", reason: "r" } }));
    const row = (at: number, status: string) => ({
      session: `job.scout-${at}`,
      agent: "scout",
      task: `task ${at}`,
      status,
    });
    expect(buildTeamStatus(state)).toMatchObject({ agent: undefined, children: { running: 3, ended: 2 } });
    expect(buildTeamStatus(state).children?.rows).toEqual([
      { session: "job.lead", agent: "lead", task: "", status: "running" },
      row(3, "running"),
      row(4, "running"),
      row(2, "stopped"),
      row(1, "completed"),
    ]);
  });

  test("says who is running", () => {
    const say = (state: JobState) => buildTeamStatus(state).statusText;
    expect(say(delegated(0))).toBe("the lead is running");
    expect(say(delegated(2))).toBe("the lead and 2 agents are running");
    expect(say(over(delegated(2), LEAD_PART))).toBe("ending 2 agents");
    expect(say({ ...over(delegated(0), LEAD_PART), outcome: ANSWERED })).toBe("nothing: the job has ended");
  });
});

test("the result of a team has the lead and the newest hundred members, and counts all", () => {
  const state = over(delegated(101), 101);
  const result = buildTeamResult(state, ANSWERED, undefined);
  expect(result).toMatchObject({
    job: "job",
    mode: "supervisor",
    outcome: ANSWERED,
    count: 101,
    turns: 1,
    tokens: 0,
    costUsd: 0,
  });
  expect(result).not.toHaveProperty("text");
  expect(result.agents.map(({ id }) => id)).toEqual(newest);
  expect(result.agents.at(-1)).toStrictEqual({
    id: "scout-101",
    agent: "scout",
    session: "job.scout-101",
    status: "completed",
  });
  expect(result.parts.map(({ name }) => name)).toEqual(["lead", ...newest]);
});
