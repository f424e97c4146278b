import { afterAll, beforeAll, expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { TestEvaluation } from "../workflows/support/test-evaluation.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed while branches answer, and again while the judge does: no stored answer is requested again [PAR-01.3, PAR-06.1]",
  async () => {
    const contest = new TestEvaluation(
      stage,
      [
        { replies: [{ text: "quick" }] },
        {
          replies: [
            { toolCalls: [{ name: "list_files", arguments: {} }] },
            { text: "slow but good", holdUntil: "branch" },
          ],
          agent: { tools: ["list_files"] },
        },
      ],
      { replies: [{ text: "2", holdUntil: "judge" }] },
    );
    const first = await stage.startWorker();
    await contest.start("Compare");
    await stage.model.waitForHold("branch");
    await first.kill("SIGKILL");
    stage.model.release("branch");
    const second = await stage.startWorker();
    await stage.model.waitForHold("judge");
    await second.kill("SIGKILL");
    stage.model.release("judge");
    await stage.startWorker();
    expect(await contest.result()).toMatchObject({
      text: "slow but good",
      decision: { selected: 1, decidedBy: "strategy" },
      otherBranches: [{ status: { type: "answered" } }],
    });
    expect(stage.model.answersRepaid()).toBe(0);
    const [quick, slow] = contest.agents.map((agent) => agent.listRequests().length);
    expect(quick).toBe(1);
    expect(slow).toBe(3);
    expect(contest.judge?.listRequests()).toHaveLength(2);
    const loops = await stage.transcript.readLoops(contest.id);
    expect(loops.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    expect(loops.filter(({ parallel }) => parallel?.isSelected)).toHaveLength(1);
    for (const { loopId } of loops) {
      const events = await stage.transcript.readEvents(loopId, 0);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
      expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    }
    // The main branch, a branch for each agent, and the judge's: no agent had to leave its branch.
    expect(await stage.transcript.readBranches(contest.id)).toHaveLength(4);
  },
);
