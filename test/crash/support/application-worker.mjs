// A worker of an application that has an input filter: it notes each asking in a file and waits until the file `go` is
// there. For processes that are to be killed.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createWorker } from "../../../dist/worker.js";

const [address, namespace, home, taskQueue] = process.argv.slice(2);
const worker = await createWorker({
  address,
  namespace,
  home,
  taskQueue,
  filters: {
    waits: async (text) => {
      if (!text.startsWith("wait")) return { type: "pass" };
      appendFileSync(join(home, "filter.runs"), `${process.pid} ${text}\n`);
      while (!existsSync(join(home, "filter.go"))) await sleep(20);
      return { type: "warn", warning: "looked at" };
    },
  },
});
process.stdout.write("ready\n");
await worker.run();
