import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { computeQuantile, openEnvironment } from "./environment.mjs";

const WORKER = fileURLToPath(new URL("../dist/worker.js", import.meta.url));
const POLL_INTERVAL_MS = 10;

/** Measures the time from the start of the process until the server reports its poll; the median of several starts. */
export async function measure({ log, quick }) {
  const stage = await openEnvironment();
  try {
    const times = [];
    for (let n = 0; n < (quick ? 2 : 9); n++) {
      const taskQueue = `cold-${n}`;
      const from = performance.now();
      const child = spawn(
        process.execPath,
        [
          WORKER,
          "--address",
          stage.server.address,
          "--home",
          join(stage.folder, "home"),
          "--task-queue",
          taskQueue,
        ],
        { stdio: "ignore" },
      );
      await waitForPoll(stage, taskQueue);
      times.push(performance.now() - from);
      log(`start ${n + 1}: ${times.at(-1).toFixed(0)} ms`);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    return { ms: Math.round(computeQuantile(times, 0.5)) };
  } finally {
    await stage.strike();
  }
}

async function waitForPoll({ client, server }, name) {
  for (;;) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: server.namespace,
      taskQueue: { name },
      taskQueueType: 1,
    });
    if ((pollers ?? []).length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
