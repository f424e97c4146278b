import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { steerSignal } from "../../src/workflows/messages.ts";
import { TEST_KEY } from "../workflows/support/temporal.ts";
import { type CrashStage, executed, expectWhole, openCrashStage } from "./support/temporal.ts";

const SCRIPT = fileURLToPath(new URL("./support/filters-worker.mjs", import.meta.url));

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

async function filteringWorker(): Promise<ChildProcess> {
  const { address, namespace, home, taskQueue } = stage;
  const child = spawn(process.execPath, [SCRIPT, address, namespace, home, taskQueue], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, [TEST_KEY_NAME]: TEST_KEY },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

test("killed while a filter looks at steering: it is asked again, and the message is taken up once [PHI-08, PHI-13b]", async () => {
  const session = stage.session({
    replies: [{ text: "First.", holdUntil: "first" }, { text: "Second." }],
    agent: { inputFilters: ["waits"] },
  });
  const first = await filteringWorker();
  await session.start("Go");
  await stage.model.waitForHold("first");
  await session.handle.signal(steerSignal, { id: "s1", text: "wait for me" });
  stage.model.release("first");
  await stage.started("filter");
  first.kill("SIGKILL");
  await once(first, "exit");
  await filteringWorker();
  await executed(stage, session, "filter-input", 2);
  stage.go("filter");
  expect(await session.result()).toMatchObject({ text: "Second." });
  expect(stage.runs("filter")).toBe(2);
  expect(await session.conversation()).toEqual([
    "user: Go",
    "assistant: First.",
    "user: wait for me\n\n[Warning: looked at]",
    "assistant: Second.",
  ]);
  await expectWhole(stage, session);
}, 40_000);
