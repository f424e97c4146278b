import { cp, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDevServer } from "../dist/devserver/start-server.js";
import { createScriptedModel, createVendorModel } from "./model.mjs";
import { WorkerSupervisor } from "./worker-supervisor.mjs";

const PROJECT = fileURLToPath(new URL("project", import.meta.url));
const TAIL_BYTES = 2_000;

/** The demo's processes and folders. They end in reverse order of their start. */
export class DemoEnvironment {
  #endings = [];
  #logs = {};

  static async create() {
    const stage = new DemoEnvironment();
    stage.folder = await mkdtemp(join(tmpdir(), "holdfast-demo-"));
    stage.home = join(stage.folder, "home");
    stage.workspace = join(stage.folder, "project");
    await cp(PROJECT, stage.workspace, { recursive: true });
    // The demo uses its own server, independent of Temporal's configuration on this machine.
    const config = join(stage.folder, "temporal.toml");
    await writeFile(config, "[profile.default]\n");
    for (const name of Object.keys(process.env)) if (name.startsWith("TEMPORAL_")) delete process.env[name];
    process.env.TEMPORAL_CONFIG_FILE = config;
    return stage;
  }

  async startServer() {
    const server = await startDevServer({ ephemeral: true });
    this.#endings.push(() => server.stop());
    this.#logs.server = server.logFile;
    return server;
  }

  async startModel(name) {
    const log = join(this.folder, "model.log");
    const model = name === undefined ? await createScriptedModel({ log }) : createVendorModel(name);
    this.#endings.push(() => model.stop());
    this.#logs.model = log;
    return model;
  }

  async startWorkers(server, model, told) {
    const log = join(this.folder, "worker.log");
    this.#logs.worker = log;
    const keeper = new WorkerSupervisor({
      args: ["--home", this.home, "--address", server.address, "--namespace", server.namespace],
      // The demo runs its own script on its own files, on hosts without bubblewrap too.
      env: { ...process.env, ...model.env, HOLDFAST_LOG: "info", HOLDFAST_SANDBOX: "off" },
      log,
      ...told,
    });
    this.#endings.push(() => keeper.stop());
    await keeper.start();
    return keeper;
  }

  /** @param ending - Closes a resource that is used together with the processes. */
  finally(ending) {
    this.#endings.push(ending);
  }

  /** Returns the ends of the logs, to diagnose a demo that does not continue. */
  async tails() {
    const tails = await Promise.all(
      Object.entries(this.#logs).map(async ([name, file]) => [name, await readTail(file)]),
    );
    return tails.filter(([, tail]) => tail !== "");
  }

  async end({ keepFolder }) {
    for (const ending of this.#endings.splice(0).reverse()) await ending().catch(() => {});
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true });
  }
}

async function readTail(file) {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString("utf8").trim();
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}
