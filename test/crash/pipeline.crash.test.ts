import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createMembers, readConversation } from "../workflows/support/job-agents.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed within a stage, and again between two stages: nothing is requested twice [ORC-02.3, RIG-04.2]",
  async () => {
    const { first, second, third } = createMembers(stage, {
      first: {
        replies: [
          { toolCalls: [{ name: "list_files", arguments: {} }] },
          { text: "One.", holdUntil: "within" },
        ],
        tools: ["list_files"],
      },
      second: { replies: [{ text: "Two.", holdUntil: "between", holdAt: "end" }] },
      third: { replies: [{ text: "Three." }] },
    });
    const holdfast = await connectClient(stage);
    const one = await stage.startWorker();
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: {
        type: "pipeline",
        stages: [
          { name: "a", agent: first.definition },
          { name: "b", agent: second.definition },
          { name: "c", agent: third.definition },
        ],
      },
    });
    await stage.model.waitForHold("within");
    await one.kill("SIGKILL");
    stage.model.release("within");
    const two = await stage.startWorker();
    await stage.model.waitForHold("between");
    stage.model.release("between");
    // The answer of the second stage is stored, and its prompt for the third is about to be created.
    await closedLoop(`${job.id}.b`);
    await two.kill("SIGKILL");
    await stage.startWorker();
    expect(await job.result()).toMatchObject({ outcome: { type: "answered" }, text: "Three.", turns: 4 });
    expect(await readConversation(stage, `${job.id}.b`)).toEqual(["user: One.", "assistant: Two."]);
    expect(await readConversation(stage, `${job.id}.c`)).toEqual(["user: Two.", "assistant: Three."]);
    for (const name of ["a", "b", "c"]) {
      expect(await stage.transcript.readLoops(`${job.id}.${name}`)).toMatchObject([
        { outcome: { type: "answered" } },
      ]);
    }
    expect(stage.model.answersRepaid()).toBe(0);
    await holdfast.close();
  },
);

async function closedLoop(session: string): Promise<void> {
  await eventually(
    async () => (await stage.transcript.readLoops(session)).some(({ status }) => status === "completed"),
    { what: `the end of ${session}`, everyMs: 2 },
  );
}
