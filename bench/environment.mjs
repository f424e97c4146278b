// The environment of every benchmark: a dev server as `holdfast dev` starts it, a home folder, a client, and workers in
// separate processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { startDevServer } from "../dist/devserver/start-server.js";

export async function openEnvironment() {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  const server = await startDevServer({ ephemeral: true });
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection, namespace: server.namespace });
  const children = new Set();

  /**
   * Starts a script of this folder as a process; resolves when the script reports that it is ready. `lines` is what it writes
   * after this.
   */
  async function start(script, args = [], env = {}) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    const child = spawn(
      process.execPath,
      [
        path,
        "--address",
        server.address,
        "--namespace",
        server.namespace,
        "--home",
        join(folder, "home"),
        ...args,
      ],
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } },
    );
    children.add(child);
    child.once("exit", () => children.delete(child));
    const lines = createInterface({ input: child.stdout });
    const [line] = await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(([code]) => {
        throw new Error(`${script} ended with ${code} before it was ready`);
      }),
    ]);
    return Object.assign(child, { ready: JSON.parse(line), lines });
  }

  async function end(child) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  return {
    folder,
    home: join(folder, "home"),
    server,
    client,
    start,
    end,
    async strike() {
      await Promise.all([...children].map(end));
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Computes a quantile: `computeQuantile(values, 0.5)` is the median. */
export function computeQuantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

export function round(value, decimals = 2) {
  return Number(value.toFixed(decimals));
}
