import { describe, expect, test } from "vitest";
import { addParts, type JobState, requestStop } from "../../src/core/job/job.ts";
import { jobDashboard } from "../../src/core/job/job-dashboard.ts";
import { buildJobStatus } from "../../src/core/job/job-status.ts";
import { endPart, startPart } from "../../src/core/job/parts.ts";
import { roundsStatus } from "../../src/core/job/rounds.ts";
import { ANSWERED, begun, openParts, reported } from "./support/jobs.ts";

test("status and dashboard stay small with many parts, and no name breaks the table", () => {
  const name = "a|b\n".repeat(40);
  const plans = Array.from({ length: 5000 }, () => ({
    name,
    agent: name,
    session: "s",
    task: name,
    model: name,
  }));
  let state = addParts({ ...openParts(0), goal: "x".repeat(256) }, plans);
  for (let index = 0; index < 300; index += 1) {
    state = begun(state, index, 1).state;
    if (index % 2 === 0) state = endPart(state, index, reported(1), 0);
  }
  const status = buildJobStatus(state, {}, 0);
  expect(status).toMatchObject({
    status: "running",
    statusText: "150 parts are running",
    job: { mode: "fan-out", counts: { waiting: 4700, running: 150, completed: 150 } },
  });
  expect(status.job.parts).toHaveLength(200);
  expect(status.job.parts.filter((part) => part.state === "running")).toHaveLength(150);
  const text = jobDashboard(status);
  expect(Buffer.byteLength(text)).toBeLessThan(20_000);
  expect(text).toContain("4700 waiting, 150 running, 150 completed");
  expect(text).toContain("and 4960 more");
  expect(text.split("\n").filter((line) => line.startsWith("| a"))).toHaveLength(40);
});

test("status and dashboard show the reserved, used and remaining budget while the job runs", () => {
  const first = begun(openParts(2, { maxTurns: 10 }), 0, 2);
  const show = (state: JobState) => jobDashboard(buildJobStatus(state, {}, 0));
  const turns = (state: JobState) => buildJobStatus(state, {}, 0).budget?.turns;
  expect(turns(first.state)).toEqual({ limit: 10, used: 0, reserved: 5, remaining: 5 });
  expect(show(first.state)).toContain("turns 0 + 5 set aside of 10");
  const over = endPart(first.state, 0, reported(3), 0);
  expect(turns(over)).toEqual({ limit: 10, used: 3, reserved: 0, remaining: 7 });
  expect(show(openParts(1))).toContain("**Budget**: without limit");
  expect(buildJobStatus({ ...over, outcome: ANSWERED }, {}, 0).budget).toBeUndefined();
});

describe("the status of a job", () => {
  test("has the fields of any run, and nothing of a loop of its own", () => {
    const status = buildJobStatus(
      openParts(2, {}, (at) => ({ agent: `agent ${at}` })),
      {},
      0,
    );
    expect(status).toMatchObject({
      session: "j",
      status: "running",
      statusText: "deciding the next step",
      agent: "agent 0, agent 1",
      goal: "go",
      turns: 0,
      costUsd: 0,
      contextTokens: 0,
      queued: { steering: 0, followUps: 0 },
      approvals: [],
      running: [],
    });
    expect(status.job).toEqual({
      mode: "fan-out",
      counts: { waiting: 2, running: 0, completed: 0, "limit-reached": 0, failed: 0, stopped: 0 },
      parts: [0, 1].map((at) => ({
        name: `p${at}`,
        agent: `agent ${at}`,
        session: `j.p${at}`,
        state: "waiting",
        status: "waiting",
        turns: 0,
        costUsd: 0,
      })),
    });
  });

  test("names the first twenty agents, each once", () => {
    const letters = [..."aabcdefghijklmnopqrstuvwxyz"];
    const agents = buildJobStatus(
      openParts(letters.length, {}, (at) => ({ agent: letters[at]! })),
      {},
      0,
    ).agent;
    expect(agents).toBe([..."abcdefghijklmnopqrst"].join(", "));
  });

  test("shows what is known of each part", () => {
    const task = { model: "m", task: "look" };
    const reserved = begun(
      openParts(1, {}, () => task),
      0,
      1,
    ).state;
    const state = startPart(reserved, 0, 5, "w");
    const over = endPart(state, 0, reported(2), 9);
    expect(buildJobStatus(over, {}, 9).job.parts).toEqual([
      {
        name: "p0",
        agent: "a",
        session: "j.p0",
        state: "done",
        status: "completed",
        turns: 2,
        costUsd: 0,
        ...task,
        workflow: "w",
        startedAtMs: 5,
        endedAtMs: 9,
      },
    ]);
  });

  test("counts the time from the start of the job", () => {
    const state = { ...openParts(1, { maxDurationMs: 2000 }), startedAtMs: 1000 };
    expect(buildJobStatus(state, {}, 1500).budget?.timeMs).toMatchObject({ limit: 2000, used: 500 });
  });

  test("lists few parts in their order, and of many the running ones, the newest ended ones, then the waiting ones", () => {
    let state = openParts(6);
    for (const part of [0, 1, 3]) state = begun(state, part, 1).state;
    for (const part of [0, 3]) state = endPart(state, part, reported(0), 0);
    const names = (most: number) => buildJobStatus(state, {}, 0, most).job.parts.map(({ name }) => name);
    expect(names(6)).toEqual(["p0", "p1", "p2", "p3", "p4", "p5"]);
    expect(names(5)).toEqual(["p1", "p3", "p0", "p2", "p4"]);
    expect(names(2)).toEqual(["p1", "p3"]);
  });

  test("says what the job does in addition to its parts, unless parts are running", () => {
    const own = { ...openParts(2), statusText: "reducing" };
    const say = (state: JobState) => buildJobStatus(state, {}, 0).statusText;
    expect(say(own)).toBe("reducing");
    expect(say(begun(own, 1, 1).state)).toBe("running: p1");
    expect(say(begun(begun(own, 0, 2).state, 1, 1).state)).toBe("running: p0, p1");
    expect(say({ ...begun(own, 1, 1).state, outcome: ANSWERED })).toBe("nothing: the job has ended");
  });

  test("names at most twenty running parts", () => {
    let state = openParts(21);
    for (let part = 0; part < 20; part += 1) state = begun(state, part, 1).state;
    expect(buildJobStatus(state, {}, 0).statusText).toMatch(/^running: p0, .*, p19$/);
    expect(buildJobStatus(begun(state, 20, 1).state, {}, 0).statusText).toBe("21 parts are running");
  });

  test("is waiting while the job sleeps, unless it stops", () => {
    const asleep = roundsStatus({ rounds: 2, sleepsUntilMs: 9000, waiting: { messages: 0, bytes: 0 } });
    const status = buildJobStatus(openParts(1), asleep, 0);
    expect(status).toMatchObject({ status: "waiting", job: { rounds: 2, sleepsUntilMs: 9000 } });
    expect(buildJobStatus(requestStop(openParts(1), "enough"), asleep, 0).status).toBe("stopping");
  });
});

describe("the dashboard of a job", () => {
  test("has the status, and a table of the parts without empty columns", () => {
    const model = (at: number) => (at === 1 ? { model: "m" } : {});
    const goal = "find  \n it";
    let state = { ...openParts(3, { maxTurns: 9 }, model), goal };
    state = endPart(begun(state, 0, 3).state, 0, reported(2), 0);
    const job = { rounds: 4 };
    expect(jobDashboard(buildJobStatus(state, { job }, 0), [["Strategy", "best"]])).toBe(`\
- **Status**: **running** · deciding the next step
- **Mode**: fan-out
- **Strategy**: best
- **Goal**: find it
- **Rounds**: 4
- **Turns**: 2
- **Cost**: $0.0000
- **Budget**: turns 2 of 9
- **Parts**: 2 waiting, 1 completed

| part | agent | model | status | turns | cost |
| --- | --- | --- | --- | --- | --- |
| p0 | a |  | completed | 2 | $0.0000 |
| p1 | a | m | waiting | 0 | $0.0000 |
| p2 | a |  | waiting | 0 | $0.0000 |`);
  });

  test("has no table without parts, and no budget after the end", () => {
    const ended = { ...openParts(0), goal: "", outcome: ANSWERED };
    expect(jobDashboard(buildJobStatus(ended, {}, 0))).toBe(`\
- **Status**: **completed** · nothing: the job has ended
- **Mode**: fan-out
- **Goal**: none
- **Turns**: 0
- **Cost**: $0.0000
- **Parts**: none`);
  });

  test("lists at most forty parts, and counts the others", () => {
    const show = (parts: number) =>
      jobDashboard(
        buildJobStatus(
          openParts(parts, {}, () => ({ task: "a|b" })),
          {},
          0,
        ),
      );
    expect(show(40)).toMatch(/\n\| p39 \| a \| a\/b \| waiting \| 0 \| \$0\.0000 \|$/);
    expect(show(41)).toMatch(/\n\| p39 \|.*\n\nand 1 more$/);
    expect(show(41)).toContain("\n| part | agent | task | status | turns | cost |\n");
  });
});
