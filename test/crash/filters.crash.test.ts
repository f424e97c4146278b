import { once } from "node:events";
import { afterAll, beforeAll, expect } from "vitest";
import { steerSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { applicationWorker } from "./support/application.ts";
import { type CrashStage, executed, expectWhole, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

thorough(
  "killed while a filter looks at steering: it is asked again, and the message is taken up once [PHI-08, PHI-13b]",
  async () => {
    const session = stage.session({
      replies: [{ text: "First.", holdUntil: "first" }, { text: "Second." }],
      agent: { inputFilters: ["waits"] },
    });
    const first = await applicationWorker(stage);
    await session.start("Go");
    await stage.model.waitForHold("first");
    await session.handle.signal(steerSignal, { id: "s1", text: "wait for me" });
    stage.model.release("first");
    await stage.started("filter");
    first.kill("SIGKILL");
    await once(first, "exit");
    await applicationWorker(stage);
    await executed(stage, session, "filter-input", 2);
    stage.go("filter");
    expect(await session.result()).toMatchObject({ text: "Second." });
    expect(stage.runs("filter")).toBe(2);
    expect(await session.conversation()).toEqual([
      "user: Go",
      "assistant: First.",
      "user: wait for me[Warning: looked at]",
      "assistant: Second.",
    ]);
    await expectWhole(stage, session);
  },
  40_000,
);
