// What the processes of workers have in common: the options by which a benchmark starts one, and the line that it waits for.
import { parseArgs } from "node:util";
import { createWorker } from "../dist/worker.js";

/**
 * Runs a worker until it is ended.
 *
 * @param flags - Further options of the command line, as `parseArgs` takes them.
 * @param build - Returns further options of the worker from the values of the command line.
 */
export async function runWorkerProcess(flags, build) {
  const text = { type: "string" };
  const options = { address: text, namespace: text, home: text, "task-queue": text, ...flags };
  const { values } = parseArgs({ options });
  const { address, namespace, home, "task-queue": taskQueue } = values;
  const worker = await createWorker({ address, namespace, home, taskQueue, ...build(values) });
  const running = worker.run();
  process.stdout.write(`${JSON.stringify({ type: "ready", pid: process.pid })}\n`);
  await running;
}
