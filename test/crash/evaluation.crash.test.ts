import { afterAll, beforeAll, expect } from "vitest";
import { thorough } from "../support/depth.ts";
import { Contest } from "../workflows/support/contest.ts";
import { type CrashStage, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

thorough(
  "killed while branches answer, and again while the judge does: nothing that was answered is asked again [PAR-01, PAR-06]",
  async () => {
    const contest = new Contest(
      stage,
      [
        { says: [{ text: "quick" }] },
        {
          says: [
            { toolCalls: [{ name: "list_files", arguments: {} }] },
            { text: "slow but good", holdUntil: "branch" },
          ],
          agent: { tools: ["list_files"] },
        },
      ],
      { says: [{ text: "2", holdUntil: "judge" }] },
    );
    const first = await stage.worker();
    await contest.start("Compare");
    await stage.model.waitForHold("branch");
    await first.kill("SIGKILL");
    stage.model.release("branch");
    const second = await stage.worker();
    await stage.model.waitForHold("judge");
    await second.kill("SIGKILL");
    stage.model.release("judge");
    await stage.worker();
    expect(await contest.result()).toMatchObject({
      text: "slow but good",
      decision: { selected: 1, by: "strategy" },
      losers: [{ status: { type: "answered" } }],
    });
    expect(stage.model.answersRepaid()).toBe(0);
    const [quick, slow] = contest.agents.map((agent) => agent.requests().length);
    expect(quick).toBe(1);
    expect(slow).toBe(3);
    expect(contest.judge?.requests()).toHaveLength(2);
    const loops = await stage.transcript.loops(contest.id);
    expect(loops.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    expect(loops.filter(({ parallel }) => parallel?.isSelected)).toHaveLength(1);
    for (const { loopId } of loops) {
      const events = await stage.transcript.events(loopId, 0);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
      expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    }
    // Main, a branch of each agent, and the judge's: nobody had to leave his own.
    expect(await stage.transcript.branches(contest.id)).toHaveLength(4);
  },
  90_000,
);
