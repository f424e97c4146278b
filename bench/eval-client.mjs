// The client of a suite's run, as a process: starts, resumes or follows the run until it has ended, and writes a JSON line at
// each point.
import { parseArgs } from "node:util";
import { connect } from "../dist/client/index.js";
import { createAnswerSuite, createTurnSuite } from "./eval-suites.mjs";

const { values } = parseArgs({
  options: {
    address: { type: "string" },
    namespace: { type: "string" },
    home: { type: "string" },
    "task-queue": { type: "string", default: "agents" },
    /** Starts a suite of cells of one answer, or of several turns: the arguments of its function, as JSON. */
    answers: { type: "string" },
    turns: { type: "string" },
    /** The id of a run. */
    resume: { type: "string" },
    follow: { type: "string" },
  },
});

const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const { address, namespace, home, "task-queue": taskQueue } = values;
const holdfast = await connect({ address, namespace, home, taskQueue });
write({ type: "ready", pid: process.pid });
const from = performance.now();
const run = await open();
const openSeconds = (performance.now() - from) / 1000;
write({ type: "open", run: run.id });
// Users have the progress on their screens meanwhile.
const end = new AbortController();
const watching = watch(end.signal);
if (values.follow === undefined) await run.result();
else await watching;
const seconds = (performance.now() - from) / 1000;
end.abort();
await watching;
const { pending, finished, failed, status, reason } = await run.status();
// In KB on Linux.
const mb = process.resourceUsage().maxRSS / 1024;
write({ type: "ended", run: run.id, seconds, openSeconds, pending, finished, failed, status, reason, mb });
await holdfast.close();
process.exit(0);

async function open() {
  const { evaluations } = holdfast;
  if (values.answers !== undefined)
    return await evaluations.start(createAnswerSuite(JSON.parse(values.answers)));
  if (values.turns !== undefined) return await evaluations.start(createTurnSuite(JSON.parse(values.turns)));
  const found = evaluations.get(values.resume ?? values.follow);
  if (values.resume !== undefined) {
    write({ type: "resuming", atMs: Date.now() });
    await found.resume();
  }
  return found;
}

async function watch(signal) {
  for await (const { finished, failed, pending } of run.watch({ signal }))
    write({ type: "progress", finished, failed, pending });
}
