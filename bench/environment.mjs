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

/** @param postgres - The URL of a database, in which the transcript gets a schema of its own, in place of a file. */
export async function openEnvironment({ postgres } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  const database = postgres === undefined ? undefined : createSchemaUrl(postgres);
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
      {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, ...(database && { HOLDFAST_DATABASE_URL: database }), ...env },
      },
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
    /** Where the transcript is: a file or a database. */
    transcript: { path: join(folder, "home", "transcript.db"), database },
    server,
    client,
    start,
    end,
    async strike() {
      await Promise.all([...children].map(end));
      await connection.close();
      await server.stop();
      if (database !== undefined) await dropSchema(database);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let schemas = 0;

function createSchemaUrl(postgres) {
  schemas += 1;
  const url = new URL(postgres);
  url.searchParams.set("schema", `bench_${process.pid}_${schemas}`);
  return url.href;
}

async function dropSchema(database) {
  const url = new URL(database);
  const schema = url.searchParams.get("schema");
  url.searchParams.delete("schema");
  const { default: pg } = await import("pg");
  const client = new pg.Client(url.href);
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schema)} CASCADE`);
  await client.end();
}

/** Computes a quantile: `computeQuantile(values, 0.5)` is the median. */
export function computeQuantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

export function round(value, decimals = 2) {
  return Number(value.toFixed(decimals));
}
