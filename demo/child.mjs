import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

/** The time from SIGTERM to SIGKILL. */
const GRACE_MS = 2_000;

const END_WITH_PARENT = new URL("exit-with-parent.mjs", import.meta.url).href;

/**
 * Starts one of the demo's programs, whose first line reports as JSON that it is ready.
 *
 * The program has its own process group, so that a Ctrl-C at the terminal reaches only the demo.
 *
 * @param log - The file for the program's standard error.
 */
export function startChild(file, args, { env, log }) {
  const errors = openSync(log, "a", 0o600);
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, file, ...args], {
    env,
    stdio: ["pipe", "pipe", errors],
    detached: true,
  });
  closeSync(errors);
  child.stdin.on("error", () => {});
  const ended = once(child, "exit").catch(() => []);
  const lines = createInterface(child.stdout);
  const ready = Promise.race([
    once(lines, "line").then(([line]) => JSON.parse(line)),
    ended.then(([code, signal]) => {
      throw new Error(`${file} ended before it was ready (${signal ?? `exit code ${code}`})`);
    }),
  ]);
  ready.catch(() => {});
  return {
    pid: child.pid,
    ready,
    ended,
    kill: () => child.kill("SIGKILL"),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const killTimer = new AbortController();
      const late = delay(GRACE_MS, true, { signal: killTimer.signal }).catch(() => false);
      if ((await Promise.race([ended, late])) === true) child.kill("SIGKILL");
      killTimer.abort();
      await ended;
    },
  };
}
