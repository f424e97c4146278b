import { afterAll, beforeAll, expect } from "vitest";
import { thorough } from "../support/depth.ts";
import { Team } from "../workflows/support/team.ts";
import { type CrashStage, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

thorough(
  "killed while delegated agents work and their lead waits, and again while it answers: nothing is delegated twice [ORC-01]",
  async () => {
    const delegate = (agent: string) => ({ name: "delegate", arguments: { agent, task: `Be ${agent}` } });
    const team = new Team(
      stage,
      [
        { toolCalls: [delegate("scout"), delegate("writer")] },
        { toolCalls: [{ name: "wait_for_agents", arguments: {} }] },
        { text: "Done.", holdUntil: "lead" },
      ],
      {
        scout: [{ text: "Seen.", holdUntil: "scout" }],
        writer: [
          { toolCalls: [{ name: "list_files", arguments: {} }] },
          { text: "Written.", holdUntil: "writer" },
        ],
      },
    );
    const first = await stage.worker();
    await team.start();
    await stage.model.waitForHold("scout");
    await stage.model.waitForHold("writer");
    await expect.poll(() => team.asked().length, { timeout: 15_000 }).toBe(2);
    await first.kill("SIGKILL");
    stage.model.release("scout");
    stage.model.release("writer");
    const second = await stage.worker();
    await stage.model.waitForHold("lead");
    await second.kill("SIGKILL");
    stage.model.release("lead");
    await stage.worker();
    expect(await team.result()).toMatchObject({
      text: "Done.",
      count: 2,
      agents: [
        { id: "scout-1", status: "completed" },
        { id: "writer-1", status: "completed" },
      ],
    });
    expect((await team.results()).at(-1)).toBe(
      "[scout-1: completed] Be scout\nSeen.\n\n[writer-1: completed] Be writer\nWritten.",
    );
    for (const part of ["lead", "scout-1", "writer-1"]) {
      expect(await stage.transcript.loops(`${team.job}.${part}`)).toMatchObject([{ status: "completed" }]);
    }
    expect(stage.model.answersRepaid()).toBe(0);
  },
  120_000,
);
