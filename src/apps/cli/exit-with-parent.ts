import { isMainThread } from "node:worker_threads";

// Loaded into a child before its program: the child ends in an orderly way when the pipe to its parent breaks, however
// the parent ended. Threads load it too, and their standard input is not the pipe.

if (isMainThread) {
  const end = (): void => {
    process.kill(process.pid, "SIGTERM");
  };
  process.stdin.resume();
  process.stdin.once("end", end);
  process.stdin.once("error", end);
  (process.stdin as { unref?: () => void }).unref?.();
}
