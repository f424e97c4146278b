import { describe, expect, test } from "vitest";
import { NOTHING } from "../../src/core/budget/amounts.ts";
import {
  delegate,
  leadOver,
  memberOver,
  openTeam,
  type Team,
  type TeamOpening,
} from "../../src/core/job/team.ts";
import { teamDashboard, teamResult, teamStatus, teamView } from "../../src/core/job/team-shown.ts";
import type { TaskReport } from "../../src/core/machine/task.ts";
import { Limits } from "../../src/schema/definition.ts";

const ANSWERED = { type: "answered", stopReason: "stop" } as const;
const agents = ["scout", "writer"].map((name) => ({ name, description: "", definitionHash: `hash-${name}` }));
const opening: TeamOpening = {
  job: "job",
  goal: "mend it",
  agents,
  maxAgents: 100,
  limits: Limits.parse({ maxTurns: 90, maxTotalTokens: null, maxDurationMs: 60_000, maxCostUsd: null }),
  nowMs: 1000,
};

const unbound: TeamOpening = {
  ...opening,
  limits: { maxTurns: null, maxTotalTokens: null, maxDurationMs: null, maxCostUsd: null },
};

function begun(team: Team, agent: string, task = "x") {
  const said = delegate(team, { agent, task }, 2000);
  if (said.type === "refused") throw new Error(said.reason);
  return said;
}

function report(turns: number, more: Partial<TaskReport> = {}): { type: "reported"; report: TaskReport } {
  const told = {
    session: "s",
    outcome: ANSWERED,
    branch: "main",
    tokens: 0,
    messages: 2,
  };
  return { type: "reported", report: { ...told, used: { ...NOTHING, turns }, ...more } };
}

describe("what agents of a team may spend", () => {
  test("is alike for the lead and each named agent; what is not used comes back", () => {
    const { team, given } = openTeam(opening);
    expect(given).toMatchObject({ turns: 30, deadlineMs: 61_000 });
    const first = begun(team, "scout");
    const second = begun(first.team, "writer");
    expect([first.given.turns, second.given.turns]).toEqual([30, 30]);
    expect(delegate(second.team, { agent: "scout", task: "more" }, 2000)).toMatchObject({
      type: "refused",
      reason: expect.stringContaining("too few turns are left"),
    });
    const freed = memberOver(second.team, "scout-1", report(10));
    expect(begun(freed, "scout").given.turns).toBe(20);
    expect(teamStatus(freed, 2000)).toMatchObject({
      turns: 10,
      budget: { turns: { limit: 90, used: 10, reserved: 60, left: 20 }, timeMs: { left: 59_000 } },
    });
  });

  test("is settled once: a second word of an agent changes nothing", () => {
    const { team } = begun(openTeam(opening).team, "scout");
    const over = memberOver(team, "scout-1", report(10));
    expect(memberOver(over, "scout-1", report(10))).toBe(over);
    expect(memberOver(over, "scout-1", { type: "lost", how: "gone" })).toBe(over);
  });

  test("is over with the job's time", () => {
    const late = delegate(openTeam(opening).team, { agent: "scout", task: "x" }, 61_000);
    expect(late).toMatchObject({ type: "refused", reason: expect.stringContaining("time") });
  });
});

describe("the table of a team", () => {
  test("keeps everyone that was begun, each under an id and a session of its own", () => {
    let { team } = openTeam(unbound);
    for (const agent of ["scout", "writer", "scout"]) ({ team } = begun(team, agent));
    expect(team.members.map(({ id, session }) => [id, session])).toEqual([
      ["scout-1", "job.scout-1"],
      ["writer-1", "job.writer-1"],
      ["scout-2", "job.scout-2"],
    ]);
    team = memberOver(
      team,
      "writer-1",
      report(1, { outcome: { type: "stopped", reason: "enough" }, position: 3 }),
    );
    team = memberOver(team, "scout-2", { type: "lost", how: "it was terminated" });
    expect(teamView(team, ["writer-1", "ghost-1"])).toMatchObject({
      members: [{ status: "stopped", reason: "enough", words: { branch: "main", position: 3 } }],
      unknown: ["ghost-1"],
    });
    expect(teamResult(team, ANSWERED, "ok")).toMatchObject({
      count: 3,
      text: "ok",
      agents: [
        { status: "running" },
        { status: "stopped" },
        { status: "failed", reason: expect.stringContaining("terminated") },
      ],
    });
  });

  test.each([
    ["the lead is over", (team: Team) => leadOver(team, report(1))],
    ["the job is stopped", (team: Team) => ({ ...team, stop: { reason: "enough" } })],
  ])("takes nobody when %s", (_, end) => {
    expect(delegate(end(openTeam(opening).team), { agent: "scout", task: "x" }, 2000)).toMatchObject({
      type: "refused",
      reason: expect.stringContaining("ending"),
    });
  });

  test("is shown in ten rows, under 4 KiB", () => {
    let { team } = openTeam({
      ...opening,
      goal: "\u4e16".repeat(200),
      limits: unbound.limits,
    });
    for (let at = 0; at < 40; at += 1) {
      ({ team } = begun(team, "scout", "\u4e16\n".repeat(300)));
      if (at < 20) team = memberOver(team, `scout-${at + 1}`, report(1));
    }
    const { children } = teamStatus(team, 2000);
    expect(children).toMatchObject({ running: 21, over: 20 });
    expect(children?.rows).toHaveLength(10);
    expect(new TextEncoder().encode(teamDashboard(team, 2000)).length).toBeLessThanOrEqual(4096);
  });
});
