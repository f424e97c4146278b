import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * Starts a program of ours that says in its first line, as JSON, that it is ready. It sees the end of this process by the
 * end of its input.
 */
export function startProgram(file, { args = [], flags = [], env = {}, log }) {
  const errors = openSync(log, "a", 0o600);
  const child = spawn(process.execPath, [...flags, file, ...args], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", errors],
    detached: true,
  });
  closeSync(errors);
  child.stdin.on("error", () => {});
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const line = once(createInterface(child.stdout), "line").then(([text]) => JSON.parse(text));
  const ready = Promise.race([
    line,
    ended.then(({ code, signal }) => {
      throw new Error(`${file} ended with ${signal ?? code} before it was ready; see ${log}`);
    }),
  ]);
  ready.catch(() => {});
  return {
    pid: child.pid,
    ready,
    ended,
    signal: (signal) => void child.kill(signal),
    end: async (signal = "SIGTERM") => {
      child.kill(signal);
      const killTimer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      const exit = await ended;
      clearTimeout(killTimer);
      return exit;
    },
  };
}
