import { afterAll, beforeAll, expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { TestTeam } from "../workflows/support/test-team.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed while delegated agents work and their lead waits, and again while it answers: nothing is delegated twice [ORC-01.1]",
  async () => {
    const delegate = (agent: string) => ({ name: "delegate", arguments: { agent, task: `Be ${agent}` } });
    const team = new TestTeam(
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
    const first = await stage.startWorker();
    await team.start();
    await stage.model.waitForHold("scout");
    await stage.model.waitForHold("writer");
    await expect.poll(() => team.countRequests().length).toBe(2);
    await first.kill("SIGKILL");
    stage.model.release("scout");
    stage.model.release("writer");
    const second = await stage.startWorker();
    await stage.model.waitForHold("lead");
    await second.kill("SIGKILL");
    stage.model.release("lead");
    await stage.startWorker();
    expect(await team.result()).toMatchObject({
      text: "Done.",
      count: 2,
      agents: [
        { id: "scout-1", status: "completed" },
        { id: "writer-1", status: "completed" },
      ],
    });
    expect((await team.readToolResults()).at(-1)).toBe(
      "[scout-1: completed] Be scout\nSeen.\n\n[writer-1: completed] Be writer\nWritten.",
    );
    for (const part of ["lead", "scout-1", "writer-1"]) {
      expect(await stage.transcript.readLoops(`${team.job}.${part}`)).toMatchObject([
        { status: "completed" },
      ]);
    }
    expect(stage.model.answersRepaid()).toBe(0);
  },
  120_000,
);
