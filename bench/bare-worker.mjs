// A bare Temporal worker with the same settings as Holdfast's: the baseline for a turn.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { NativeConnection, Worker } from "@temporalio/worker";
import { WORKER_SETTINGS } from "../dist/worker.js";

const { values } = parseArgs({
  options: { address: { type: "string" }, namespace: { type: "string" }, home: { type: "string" } },
});

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: values.address }),
  namespace: values.namespace,
  taskQueue: "bare",
  workflowsPath: fileURLToPath(new URL("./bare-workflow.mjs", import.meta.url)),
  activities: { first: async () => undefined, second: async () => undefined },
  ...WORKER_SETTINGS,
});
const running = worker.run();
process.stdout.write(`${JSON.stringify({ type: "ready", pid: process.pid })}\n`);
await running;
