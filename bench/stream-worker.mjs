// A worker as in production, with the hub or with a hub that stores nothing.
import { parseArgs } from "node:util";
import { NullHub } from "../dist/store/stream/null-hub.js";
import { createWorker } from "../dist/worker.js";

const { values } = parseArgs({
  options: {
    address: { type: "string" },
    namespace: { type: "string" },
    home: { type: "string" },
    "task-queue": { type: "string" },
    "null-hub": { type: "boolean" },
  },
});
const worker = await createWorker({
  address: values.address,
  namespace: values.namespace,
  home: values.home,
  taskQueue: values["task-queue"],
  ...(values["null-hub"] ? { hub: new NullHub() } : {}),
});
const running = worker.run();
process.stdout.write(`${JSON.stringify({ type: "ready", pid: process.pid })}\n`);
await running;
