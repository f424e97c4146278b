import { afterAll, beforeAll, expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "../workflows/support/agent-tree.ts";
import {
  type CrashEnvironment,
  countTimedOutTasks,
  expectComplete,
  openCrashEnvironment,
} from "./support/crash-environment.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed while a sub-agent answers, and again while its caller does: one child, one result, nothing paid twice [SUB-01.1, SUB-05.1, RIG-04.2]",
  async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("scout", "Look")] }, { text: "Done.", holdUntil: "caller" }],
      {
        scout: [
          { toolCalls: [{ name: "list_files", arguments: {} }] },
          { text: "Seen.", holdUntil: "child" },
        ],
      },
    );
    const first = await stage.startWorker();
    await parent.start("Go");
    await stage.model.waitForHold("child");
    await first.kill("SIGKILL");
    stage.model.release("child");
    const second = await stage.startWorker();
    await stage.model.waitForHold("caller");
    await second.kill("SIGKILL");
    stage.model.release("caller");
    await stage.startWorker();
    expect(await parent.readResult()).toMatchObject({ text: "Done." });
    expect(await parent.readConversation()).toEqual([
      "user: Go",
      "assistant: ",
      "toolResult: Seen.",
      "assistant: Done.",
    ]);
    const children = await stage.transcript.findSessions({ limit: 9, spawnedBy: parent.id });
    expect(children).toHaveLength(1);
    const child = await findChildSession(stage, parent);
    expect(await stage.transcript.readLoops(child.id)).toMatchObject([
      { outcome: { type: "answered" }, turns: 2 },
    ]);
    const ends = (await parent.readEvents()).filter(({ body }) => body.type === "ToolExecutionEnd");
    expect(ends).toHaveLength(1);
    expect(stage.model.answersRepaid()).toBe(0);
    expect(await countTimedOutTasks(stage, parent.id)).toBe(0);
    await expectComplete(stage, parent);
  },
);
