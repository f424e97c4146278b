// A worker of an application that has an input filter and hooks: they note each asking in a file and wait until a second
// file is there. For processes that are to be killed.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createWorker } from "../../../dist/worker.js";

const [address, namespace, home, taskQueue] = process.argv.slice(2);
const waitForFile = async (label, line) => {
  appendFileSync(join(home, `${label}.runs`), `${line}\n`);
  while (!existsSync(join(home, `${label}.go`))) await sleep(20);
};
const createWaitingFunction =
  (label) =>
  async ({ id }) => {
    await waitForFile(label, id);
    return { type: "yes" };
  };
const worker = await createWorker({
  address,
  namespace,
  home,
  taskQueue,
  filters: {
    waits: async (text) => {
      if (!text.startsWith("wait")) return { type: "pass" };
      await waitForFile("filter", `${process.pid} ${text}`);
      return { type: "warn", warning: "looked at" };
    },
  },
  hooks: {
    waits: {
      "before-turn": createWaitingFunction("before-turn"),
      "after-turn": createWaitingFunction("after-turn"),
    },
  },
});
process.stdout.write("ready\n");
await worker.run();
