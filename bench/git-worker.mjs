// A worker with the tools of git work.
import { parseArgs } from "node:util";
import { createGitTools } from "../dist/apps/git/index.js";
import { createWorker } from "../dist/worker.js";

const { values } = parseArgs({
  options: {
    address: { type: "string" },
    namespace: { type: "string" },
    home: { type: "string" },
    "task-queue": { type: "string" },
  },
});
const { core, main, update } = createGitTools({ home: values.home });
const worker = await createWorker({
  address: values.address,
  namespace: values.namespace,
  home: values.home,
  taskQueue: values["task-queue"],
  tools: [...core, ...main, ...update],
});
const running = worker.run();
process.stdout.write(`${JSON.stringify({ type: "ready", pid: process.pid })}\n`);
await running;
