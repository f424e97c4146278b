import { describe, expect, test } from "vitest";
import { NO_LIMITS } from "../../src/core/budget/limits.ts";
import type { JobState } from "../../src/core/job/job.ts";
import { jobDashboard } from "../../src/core/job/job-dashboard.ts";
import { buildJobStatus } from "../../src/core/job/job-status.ts";
import { endPart } from "../../src/core/job/parts.ts";
import { beginMember, LEAD_PART, openTeam, parseLeadJob } from "../../src/core/job/team.ts";
import { DELEGATE_UPDATE, TEAM_QUERY } from "../../src/core/job/team-messages.ts";
import { buildTeamResult, buildTeamStatus, buildTeamView } from "../../src/core/job/team-status.ts";
import type { PartEnd } from "../../src/core/machine/task.ts";
import { Limits } from "../../src/schema/limits.ts";
import { ANSWERED, reported } from "./support/jobs.ts";

const agents = ["scout", "writer"].map((name) => ({
  name,
  description: `a ${name}`,
  definitionHash: `hash-${name}`,
}));
const TEAM = { agents, maxAgents: 100 };
const opening = {
  job: "job",
  goal: "mend it",
  limits: Limits.parse({ maxTurns: 90, maxTotalTokens: null, maxDurationMs: 60_000, maxCostUsd: null }),
  nowMs: 1000,
};

const unbound = { ...opening, limits: NO_LIMITS };

function begun(state: JobState, agent: string, task = "x") {
  const said = beginMember(state, TEAM, { agent, task }, 2000);
  if (said.type === "denied") throw new Error(said.reason);
  return said;
}

function memberOver(state: JobState, name: string, end: PartEnd): JobState {
  return endPart(
    state,
    state.parts.findIndex((part) => part.name === name),
    end,
    2000,
  );
}

describe("the allowance of a team's agents", () => {
  test("is equal for the lead and each named agent, and unused amounts are returned", () => {
    const { state, allocation } = openTeam(opening, TEAM);
    expect(allocation).toMatchObject({ turns: 30, deadlineMs: 61_000 });
    const first = begun(state, "scout");
    const second = begun(first.state, "writer");
    expect([first.allocation.turns, second.allocation.turns]).toEqual([30, 30]);
    expect(beginMember(second.state, TEAM, { agent: "scout", task: "more" }, 2000)).toMatchObject({
      type: "denied",
      reason: expect.stringContaining("too few turns are left"),
    });
    const freed = memberOver(second.state, "scout-1", reported(10));
    expect(begun(freed, "scout").allocation.turns).toBe(20);
    expect(buildJobStatus(freed, buildTeamStatus(freed), 2000)).toMatchObject({
      turns: 10,
      budget: { turns: { limit: 90, used: 10, reserved: 60, remaining: 20 }, timeMs: { remaining: 59_000 } },
    });
  });

  test("is settled once: a second report of an agent is ignored", () => {
    const { state } = begun(openTeam(opening, TEAM).state, "scout");
    const over = memberOver(state, "scout-1", reported(10));
    expect(memberOver(over, "scout-1", reported(10))).toBe(over);
    expect(memberOver(over, "scout-1", { type: "lost", reason: "gone", cause: "ended" })).toBe(over);
  });

  test("has no turns for a lead for which nothing is left: its run reports that", () => {
    const limits = { ...opening.limits, maxDurationMs: 0 };
    const { state, allocation } = openTeam({ ...opening, limits }, TEAM);
    expect(allocation).toEqual({ ...state.account.own, turns: 0 });
    expect(state.parts).toMatchObject([{ name: "lead", state: "running", startedAtMs: 1000 }]);
  });

  test("is denied after the job's deadline", () => {
    const late = beginMember(openTeam(opening, TEAM).state, TEAM, { agent: "scout", task: "x" }, 61_000);
    expect(late).toMatchObject({ type: "denied", reason: expect.stringContaining("time") });
  });
});

describe("a lead", () => {
  test("works for the job whose name begins its session's", () => {
    const { session, agent } = openTeam(opening, TEAM).state.parts[LEAD_PART]!;
    expect({ session, agent }).toEqual({ session: "job.lead", agent: "lead" });
    expect(parseLeadJob(session)).toBe("job");
    expect(parseLeadJob("job")).toBeUndefined();
    expect(parseLeadJob("job.lead.scout-1")).toBeUndefined();
  });

  test("reads why an unknown agent gets no task", () => {
    const { state } = openTeam(opening, TEAM);
    expect(beginMember(state, TEAM, { agent: "cook", task: "x" }, 2000)).toEqual({
      type: "denied",
      reason: 'Unknown agent "cook". Known agents: scout, writer.',
    });
  });

  test("delegates as many tasks as the team allows", () => {
    const team = { agents, maxAgents: 2 };
    const second = begun(begun(openTeam(unbound, team).state, "scout").state, "writer");
    expect(second).toMatchObject({ type: "started", part: 2 });
    expect(beginMember(second.state, team, { agent: "scout", task: "x" }, 2000)).toEqual({
      type: "denied",
      reason: "Not started: 2 tasks were delegated, which is the maximum.",
    });
  });
});

test("pin: the wire names of the messages from a lead's tools", () => {
  expect([DELEGATE_UPDATE, TEAM_QUERY]).toEqual(["delegate", "team"]);
});

describe("the table of a team", () => {
  test("lists every agent that was started, with an id and a session of its own", () => {
    let { state } = openTeam(unbound, TEAM);
    for (const agent of ["scout", "writer", "scout"]) ({ state } = begun(state, agent));
    expect(buildTeamView(state, TEAM).members.map(({ id, session }) => [id, session])).toEqual([
      ["scout-1", "job.scout-1"],
      ["writer-1", "job.writer-1"],
      ["scout-2", "job.scout-2"],
    ]);
    state = memberOver(
      state,
      "writer-1",
      reported(1, { outcome: { type: "stopped", reason: "enough" }, position: 3 }),
    );
    state = memberOver(state, "scout-2", { type: "lost", reason: "it was terminated", cause: "ended" });
    expect(buildTeamView(state, TEAM, ["writer-1", "ghost-1"])).toMatchObject({
      members: [{ status: "stopped", reason: "enough", lastAnswer: { branch: "main", position: 3 } }],
      unknown: ["ghost-1"],
    });
    expect(buildTeamResult(state, ANSWERED, "ok")).toMatchObject({
      count: 3,
      text: "ok",
      agents: [
        { status: "running" },
        { status: "stopped" },
        { status: "failed", reason: expect.stringContaining("terminated") },
      ],
      parts: [
        { name: "lead" },
        { name: "scout-1" },
        { name: "writer-1", outcome: { type: "stopped" }, turns: 1 },
        { name: "scout-2", outcome: { type: "failed", fault: "lost" } },
      ],
    });
  });

  test.each([
    ["the lead has ended", (state: JobState) => endPart(state, LEAD_PART, reported(1), 2000)],
    ["the job is stopped", (state: JobState) => ({ ...state, stop: { reason: "enough" } })],
  ])("accepts no agent when %s", (_, end) => {
    expect(
      beginMember(end(openTeam(opening, TEAM).state), TEAM, { agent: "scout", task: "x" }, 2000),
    ).toMatchObject({
      type: "denied",
      reason: expect.stringContaining("ending"),
    });
  });

  test("has ten rows in the status, and its parts are in the dashboard", () => {
    let { state } = openTeam({ ...unbound, goal: "\u4e16".repeat(200) }, TEAM);
    for (let at = 0; at < 40; at += 1) {
      ({ state } = begun(state, "scout", "\u4e16\n".repeat(300)));
      if (at < 20) state = memberOver(state, `scout-${at + 1}`, reported(1));
    }
    const status = buildJobStatus(state, buildTeamStatus(state), 2000);
    expect(status).toMatchObject({
      statusText: "the lead and 20 agents are running",
      children: { running: 21, ended: 20 },
      job: { mode: "supervisor", counts: { running: 21, completed: 20 } },
    });
    expect(status.children?.rows).toHaveLength(10);
    expect(status.job.parts.map(({ name }) => name).slice(0, 2)).toEqual(["lead", "scout-1"]);
    expect(jobDashboard(status)).toContain("| scout-1 | scout |");
  });
});
