import { isMainThread } from "node:worker_threads";

// Loaded into a child before its program: when the parent ends for any reason, the pipe to it breaks and the child shuts
// down gracefully. Threads load this file too, but their standard input is not the pipe.

if (isMainThread) {
  const end = (): void => {
    process.kill(process.pid, "SIGTERM");
  };
  process.stdin.resume();
  process.stdin.once("end", end);
  process.stdin.once("error", end);
  (process.stdin as { unref?: () => void }).unref?.();
}
