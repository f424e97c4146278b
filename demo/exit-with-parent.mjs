import { isMainThread } from "node:worker_threads";

// Loaded into the demo's processes: ends them when the demo ends for any reason, because that closes the pipe.
if (isMainThread) {
  process.stdin.on("error", () => {}).once("close", () => process.kill(process.pid, "SIGKILL"));
  process.stdin.resume();
  process.stdin.unref?.();
}
