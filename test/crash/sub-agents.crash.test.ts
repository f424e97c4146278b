import { afterAll, beforeAll, expect } from "vitest";
import { thorough } from "../support/depth.ts";
import { childOf, family, task } from "../workflows/support/family.ts";
import { type CrashStage, expectWhole, lateTasks, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

thorough(
  "killed while a sub-agent answers, and again while its caller does: one child, one result, nothing paid twice [SUB-01, SUB-05, RIG-04]",
  async () => {
    const parent = family(
      stage,
      [{ toolCalls: [task("scout", "Look")] }, { text: "Done.", holdUntil: "caller" }],
      {
        scout: [
          { toolCalls: [{ name: "list_files", arguments: {} }] },
          { text: "Seen.", holdUntil: "child" },
        ],
      },
    );
    const first = await stage.worker();
    await parent.start("Go");
    await stage.model.waitForHold("child");
    await first.kill("SIGKILL");
    stage.model.release("child");
    const second = await stage.worker();
    await stage.model.waitForHold("caller");
    await second.kill("SIGKILL");
    stage.model.release("caller");
    await stage.worker();
    expect(await parent.result()).toMatchObject({ text: "Done." });
    expect(await parent.conversation()).toEqual([
      "user: Go",
      "assistant: ",
      "toolResult: Seen.",
      "assistant: Done.",
    ]);
    const children = await stage.transcript.sessions({ limit: 9, spawnedBy: parent.id });
    expect(children).toHaveLength(1);
    const child = await childOf(stage, parent);
    expect(await stage.transcript.loops(child.id)).toMatchObject([
      { outcome: { type: "answered" }, turns: 2 },
    ]);
    const ends = (await parent.events()).filter(({ body }) => body.type === "ToolExecutionEnd");
    expect(ends).toHaveLength(1);
    expect(stage.model.answersRepaid()).toBe(0);
    expect(await lateTasks(stage, parent.id)).toBe(0);
    await expectWhole(stage, parent);
  },
  60_000,
);
