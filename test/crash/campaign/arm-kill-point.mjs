// Loaded into a worker process and into its writer thread. Counts the kill points that are passed, and sends the process
// HOLDFAST_KILL_SIGNAL (default: SIGKILL) at the n-th pass of the point in HOLDFAST_KILL_AT. If HOLDFAST_KILL_WHEN names a
// file, passes of that point count only while the file lists it.
import { appendFileSync, readFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";
import { armKillPoints } from "../../../dist/platform/kill-point.js";

const {
  HOLDFAST_KILL_AT = "",
  HOLDFAST_KILL_SIGNAL: signal = "SIGKILL",
  HOLDFAST_KILL_LOG,
  HOLDFAST_KILL_WHEN: when,
} = process.env;
if (HOLDFAST_KILL_LOG === undefined)
  throw new Error("arm-kill-point.mjs wants HOLDFAST_KILL_LOG, a file to write to");

const split = HOLDFAST_KILL_AT.lastIndexOf(":");
const wanted = {
  point: HOLDFAST_KILL_AT.slice(0, Math.max(0, split)),
  nth: Number(HOLDFAST_KILL_AT.slice(split + 1)),
};
const passed = {};

const isArmed = () => when === undefined || readFileSync(when, "utf8").split(" ").includes(wanted.point);

function pass(point) {
  if (point === wanted.point && !isArmed()) return;
  passed[point] = (passed[point] ?? 0) + 1;
  if (point !== wanted.point || passed[point] !== wanted.nth) return;
  write({ type: signal === "SIGKILL" ? "killed" : "stopped", point, nth: wanted.nth, passed });
  process.kill(process.pid, signal);
}

function write(line) {
  appendFileSync(HOLDFAST_KILL_LOG, `${JSON.stringify({ ...line, pid: process.pid, atMs: Date.now() })}\n`);
}

armKillPoints(pass);
process.on("exit", () => write({ type: "ended", passed }));

if (isMainThread) {
  armThreads();
  armCompletions();
  // The pipe's end is the campaign's end, however that came.
  process.stdin.on("error", () => {}).once("close", () => process.kill(process.pid, "SIGKILL"));
  process.stdin.resume();
  process.stdin.unref?.();
}

/** The transcript's writer passes its points in a thread of its own. */
function armThreads() {
  const threads = createRequire(import.meta.url)("node:worker_threads");
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file, options) {
      const ours = options?.name?.startsWith("holdfast-") === true;
      super(file, ours ? { ...options, execArgv: ["--import", import.meta.url] } : options);
    }
  };
  syncBuiltinESMExports();
}

/** What the server is told goes through the SDK, so its points lie around the SDK's own calls. */
function armCompletions() {
  const require = createRequire(import.meta.url);
  const { native } = require("@temporalio/core-bridge");
  const { coresdk } = require("@temporalio/proto");
  around("workerCompleteActivityTask", () => "activity");
  around("workerCompleteWorkflowActivation", (bytes) => {
    const { successful } = coresdk.workflow_completion.WorkflowActivationCompletion.decodeDelimited(bytes);
    const isLast = successful?.commands?.some(({ continueAsNewWorkflowExecution: as }) => as != null);
    return isLast ? "continue-as-new" : "workflow";
  });

  function around(name, kindOf) {
    const call = native[name];
    native[name] = async (worker, bytes) => {
      const kind = kindOf(bytes);
      pass(`${kind}:told-before`);
      const answer = await call(worker, bytes);
      pass(`${kind}:told`);
      return answer;
    };
  }
}
