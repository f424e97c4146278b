// What a proof of runs of suites needs: see eval-crash.mjs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../dist/client/index.js";
import { startDevServer } from "../dist/devserver/start-server.js";
import { findServerProcess } from "../test/crash/campaign/find-server.mjs";

const BENCH = join(import.meta.dirname, "..", "bench");
/** Long enough that answers are on their way whenever a worker is killed. */
const ANSWER_MS = 20;
const SERVER_AWAY_MS = 500;
/** Ports that the system gives nobody by itself: no other program takes the server's while it is away. */
const PORTS = { from: 15_000, count: 16_000 };
const LOOK_MS = 20;
/** A run of which nothing is finished for so long is stuck. */
const STUCK_MS = 180_000;

/** A Temporal server on a file, a vendor, and the processes of two runs, each with a store of its own. */
export class EvalCrashStage {
  #folder;
  #server;
  #port;
  #vendor;
  #database;
  #schemas = new Map();
  #processes = new Set();
  vendorUrl;

  static async open(postgres) {
    // The proof talks to its own server, whatever Temporal's configuration on this machine says.
    for (const name of Object.keys(process.env)) if (name.startsWith("TEMPORAL_")) delete process.env[name];
    process.env.TEMPORAL_CONFIG_FILE = "";
    const stage = new EvalCrashStage();
    // Whenever this process ends, except by SIGKILL, its children end too.
    process.once("exit", () => stage.#endProcesses());
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
    stage.#database = postgres;
    stage.#folder = await mkdtemp(join(tmpdir(), "holdfast-eval-crash-"));
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    stage.#server = await startDevServer({ dataDir: stage.#dataDir, port, uiPort: 0 });
    stage.#port = Number(stage.#server.address.split(":")[1]);
    const store =
      postgres === undefined ? join(stage.#home("killed"), "transcript.db") : stage.#url("killed");
    stage.#vendor = stage.#spawn("eval-vendor.mjs", ["--answer-ms", `${ANSWER_MS}`, "--store", store]);
    stage.vendorUrl = (await stage.#vendor.ready).url;
    return stage;
  }

  /** Starts a process of a run: a worker or a client. */
  start(script, run, args = []) {
    const { address, namespace } = this.#server;
    const place = ["--address", address, "--namespace", namespace, "--home", this.#home(run)];
    return this.#spawn(script, [...place, ...args], {
      BENCH_HTTP: "1",
      OPENAI_API_KEY: "none",
      HOLDFAST_LOG: "error",
      HOLDFAST_DATABASE_URL: this.#url(run) ?? "",
    });
  }

  /** SIGKILL for the Temporal server; then another one on the same file and port. */
  async killServer() {
    const { pid } = JSON.parse(await readFile(join(this.#dataDir, "server.json"), "utf8"));
    process.kill(findServerProcess(pid), "SIGKILL");
    await sleep(SERVER_AWAY_MS);
    const { address } = this.#server;
    this.#server = await startDevServer({ dataDir: this.#dataDir, port: this.#port, uiPort: 0 });
    if (this.#server.address !== address || this.#server.alreadyRunning)
      throw new Error(`the address ${address} is taken by another program`);
  }

  async readVendor() {
    return await (await fetch(this.vendorUrl)).json();
  }

  /** Waits until so many different questions are answered. Returns false if the run has ended before. */
  async waitForQuestions(count, readLast) {
    let seen = 0;
    let seenAt = performance.now();
    for (;;) {
      const { questions } = await this.readVendor();
      if (questions >= count) return true;
      if (readLast()?.type === "ended") return false;
      if (questions > seen) {
        seen = questions;
        seenAt = performance.now();
      } else if (performance.now() - seenAt > STUCK_MS)
        throw new Error(`nothing was asked for ${STUCK_MS / 1000} s: ${JSON.stringify(readLast())}`);
      await sleep(LOOK_MS);
    }
  }

  async readReport(run, id) {
    const { address, namespace } = this.#server;
    const place = { address, namespace, home: this.#home(run), taskQueue: "agents" };
    const holdfast = await connect({ ...place, database: this.#url(run) ?? "" });
    const report = await holdfast.evaluations.get(id).report();
    await holdfast.close();
    return report;
  }

  async close() {
    await Promise.all([...this.#processes].map((one) => one.kill()));
    await this.#server.stop();
    await this.#dropSchemas();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #endProcesses() {
    for (const { child } of this.#processes) child.kill("SIGKILL");
  }

  get #dataDir() {
    return join(this.#folder, "server");
  }

  #home(run) {
    return join(this.#folder, run);
  }

  /** The database of a run: a schema of its own. Undefined for files. */
  #url(run) {
    if (this.#database === undefined) return undefined;
    const schema = `eval_crash_${process.pid}_${run}`;
    const url = new URL(this.#database);
    url.searchParams.set("schema", schema);
    this.#schemas.set(run, schema);
    return url.href;
  }

  async #dropSchemas() {
    if (this.#schemas.size === 0) return;
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: this.#database });
    await client.connect();
    for (const schema of this.#schemas.values())
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  }

  #spawn(script, args, env = {}) {
    const child = spawn(process.execPath, [join(BENCH, script), ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout });
    let last;
    const find = (type) =>
      new Promise((resolve, reject) => {
        lines.on("line", (text) => {
          // Temporal's worker writes its log between them.
          if (!text.startsWith("{")) return;
          const line = JSON.parse(text);
          last = line;
          if (line.type === type) resolve(line);
        });
        lines.once("close", () => reject(new Error(`${script} ended before its line "${type}"`)));
      });
    const ready = find("ready");
    const opened = find("open");
    const exited = Promise.all([once(child, "exit"), once(lines, "close")]);
    const started = { child, ready, opened, exited, last: () => last, kill: () => kill() };
    // Nobody waits for a line of a process that is killed.
    for (const promise of [ready, opened, exited]) promise.catch(() => undefined);
    this.#processes.add(started);
    child.once("exit", () => this.#processes.delete(started));
    const kill = async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await exited;
    };
    return started;
  }
}
