import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { thorough } from "../support/depth.ts";
import { connectTo } from "../workflows/support/connected.ts";
import { cast, talk } from "../workflows/support/jobs.ts";
import { type CrashStage, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

thorough(
  "killed within a stage, and again between two stages: nothing is asked twice [ORC-02, RIG-04]",
  async () => {
    const { first, second, third } = cast(stage, {
      first: {
        says: [{ toolCalls: [{ name: "list_files", arguments: {} }] }, { text: "One.", holdUntil: "within" }],
        tools: ["list_files"],
      },
      second: { says: [{ text: "Two.", holdUntil: "between", holdAt: "end" }] },
      third: { says: [{ text: "Three." }] },
    });
    const holdfast = await connectTo(stage);
    const one = await stage.worker();
    const job = await holdfast.startJob({
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
    const two = await stage.worker();
    await stage.model.waitForHold("between");
    stage.model.release("between");
    // The answer of the second stage is stored, and its prompt for the third is about to be made.
    await closedLoop(`${job.id}.b`);
    await two.kill("SIGKILL");
    await stage.worker();
    expect(await job.result()).toMatchObject({ outcome: { type: "answered" }, text: "Three.", turns: 4 });
    expect(await talk(stage, `${job.id}.b`)).toEqual(["user: One.", "assistant: Two."]);
    expect(await talk(stage, `${job.id}.c`)).toEqual(["user: Two.", "assistant: Three."]);
    for (const name of ["a", "b", "c"]) {
      expect(await stage.transcript.loops(`${job.id}.${name}`)).toMatchObject([
        { outcome: { type: "answered" } },
      ]);
    }
    expect(stage.model.answersRepaid()).toBe(0);
    await holdfast.close();
  },
  60_000,
);

async function closedLoop(session: string): Promise<void> {
  await eventually(
    async () => (await stage.transcript.loops(session)).some(({ status }) => status === "completed"),
    { what: `the end of ${session}`, everyMs: 2 },
  );
}
