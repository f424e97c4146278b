import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import { TEST_KEY } from "../../workflows/support/test-environment.ts";
import type { CrashEnvironment } from "./crash-environment.ts";

const SCRIPT = fileURLToPath(new URL("./application-worker.mjs", import.meta.url));

/** A worker with an application's functions that wait for files. Ends with the test at the latest. */
export async function startApplicationWorker(stage: CrashEnvironment): Promise<ChildProcess> {
  const { address, namespace, home, taskQueue } = stage;
  const child = spawn(process.execPath, [SCRIPT, address, namespace, home, taskQueue], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, [TEST_KEY_NAME]: TEST_KEY },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}
