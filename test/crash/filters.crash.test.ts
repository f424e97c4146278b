import { once } from "node:events";
import { afterAll, beforeAll, expect } from "vitest";
import { steerSignal } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { startApplicationWorker } from "./support/application-worker.ts";
import {
  type CrashEnvironment,
  expectComplete,
  openCrashEnvironment,
  waitForExecution,
} from "./support/crash-environment.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed while a filter checks steering: the filter is called again, and the message is accepted once [PHI-08.1, PHI-13b]",
  async () => {
    const session = stage.session({
      replies: [{ text: "First.", holdUntil: "first" }, { text: "Second." }],
      agent: { inputFilters: ["waits"] },
    });
    const first = await startApplicationWorker(stage);
    await session.start("Go");
    await stage.model.waitForHold("first");
    await session.handle.signal(steerSignal, { id: "s1", text: "wait for me" });
    stage.model.release("first");
    await stage.waitForStart("filter");
    first.kill("SIGKILL");
    await once(first, "exit");
    await startApplicationWorker(stage);
    await waitForExecution(stage, session, "filter-input", 2);
    stage.release("filter");
    expect(await session.readResult()).toMatchObject({ text: "Second." });
    expect(stage.countRuns("filter")).toBe(2);
    expect(await session.readConversation()).toEqual([
      "user: Go",
      "assistant: First.",
      "user: wait for me[Warning: looked at]",
      "assistant: Second.",
    ]);
    await expectComplete(stage, session);
  },
);
