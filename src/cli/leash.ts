import { isMainThread } from "node:worker_threads";
import { receiveEnvironment } from "../config/received-environment.ts";

// Loaded into a child before its program: it takes over its secrets, and ends in an orderly way when the pipe to its
// parent breaks, however the parent ended. Threads load it too, and their descriptors are not these pipes.

if (isMainThread) {
  receiveEnvironment();
  const end = (): void => {
    process.kill(process.pid, "SIGTERM");
  };
  process.stdin.resume();
  process.stdin.once("end", end);
  process.stdin.once("error", end);
  (process.stdin as { unref?: () => void }).unref?.();
}
