// The same cells of one answer by Holdfast and by Inspect AI (PyPI), against the same vendor: their time, and what is paid
// twice where the process is killed half-way and the rest is asked by another one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { installPythonPackages } from "../scripts/python-environment.mjs";
import { openEnvironment, round } from "./environment.mjs";
import { assertFinished, OVER_HTTP, readVendor, runSuite, waitForVendor } from "./eval.mjs";
import { CONCURRENCY } from "./eval-suites.mjs";

/** Inspect's provider for this protocol needs the vendor's SDK. */
const PACKAGES = ["inspect-ai==0.3.285", "openai==3.57.0"];

const SCRIPT = join(import.meta.dirname, "eval-peers.py");

export async function measure({ log, quick }) {
  const cells = quick ? 50 : 1000;
  const python = installPythonPackages("eval-peers", PACKAGES);
  const stage = await openEnvironment();
  try {
    const vendor = await stage.start("./eval-vendor.mjs");
    const { url } = vendor.ready;
    const peers = {
      holdfast: new HoldfastPeer(stage, url),
      inspect: new InspectPeer(stage, url, python),
    };
    const figures = { cells };
    for (const [name, peer] of Object.entries(peers)) {
      await peer.run("warm", CONCURRENCY);
      const seconds = await peer.run("whole", cells);
      log(`${name}: ${cells} cells in ${seconds.toFixed(1)} s`);
      figures[`${name}Seconds`] = round(seconds);
    }
    figures.ratio = round(figures.holdfastSeconds / figures.inspectSeconds, 3);
    for (const [name, peer] of Object.entries(peers)) {
      const before = await readVendor(url);
      const { seconds, wallSeconds } = await peer.runKilled("killed", cells, async () => {
        await waitForVendor(url, ({ answers }) => answers >= before.answers + cells / 2);
      });
      const { repeated } = await readVendor(url);
      const paidTwice = repeated - before.repeated;
      log(
        `${name}, killed: ${seconds.toFixed(1)} s, ${wallSeconds.toFixed(1)} s with starts; ${paidTwice} paid twice`,
      );
      const Name = `${name[0].toUpperCase()}${name.slice(1)}`;
      figures[`killed${Name}Seconds`] = round(seconds);
      figures[`killed${Name}WallSeconds`] = round(wallSeconds);
      figures[`${name}PaidTwice`] = paidTwice;
    }
    return figures;
  } finally {
    await stage.strike();
  }
}

class HoldfastPeer {
  #stage;
  #vendor;
  #worker;

  constructor(stage, vendor) {
    this.#stage = stage;
    this.#vendor = vendor;
  }

  /** Returns the seconds from the call that starts the run to its result. */
  async run(name, cells) {
    this.#worker ??= await this.#startWorker();
    const ended = await runSuite(this.#stage, [
      "--answers",
      JSON.stringify({ name, cells, vendor: this.#vendor }),
    ]);
    assertFinished(ended, cells);
    return ended.seconds;
  }

  /** Kills the worker when the moment has come, and starts another. The start of a process counts in `wallSeconds` only. */
  async runKilled(name, cells, moment) {
    const running = this.run(name, cells);
    await moment();
    const killed = performance.now();
    await this.#stage.end(this.#worker);
    this.#worker = await this.#startWorker();
    const startSeconds = (performance.now() - killed) / 1000;
    const wallSeconds = await running;
    return { seconds: wallSeconds - startSeconds, wallSeconds };
  }

  #startWorker() {
    return this.#stage.start("./agent-worker.mjs", [], OVER_HTTP);
  }
}

class InspectPeer {
  #folder;
  #vendor;
  #python;

  constructor({ folder }, vendor, python) {
    this.#folder = folder;
    this.#vendor = vendor;
    this.#python = python;
  }

  async run(name, cells) {
    const { ended } = await this.#start(name, cells);
    return assertEnded(await ended, cells).seconds;
  }

  /** Kills the process when the moment has come, and calls the same function in another one, with the same folder. */
  async runKilled(name, cells, moment) {
    const first = await this.#start(name, cells);
    await moment();
    first.child.kill("SIGKILL");
    await first.ended;
    const killed = performance.now();
    const second = await this.#start(name, cells);
    const { seconds } = assertEnded(await second.ended, cells);
    const end = performance.now();
    return {
      seconds: (killed - first.begun) / 1000 + seconds,
      wallSeconds: (end - first.begun) / 1000,
    };
  }

  /** Starts a process, and waits until it begins: Python has started, and the imports are done. */
  async #start(name, cells) {
    const asked = {
      ...{ name, cells, concurrency: CONCURRENCY, vendor: this.#vendor },
      logs: join(this.#folder, `inspect-${name}`),
    };
    const child = spawn(this.#python, [SCRIPT, JSON.stringify(asked)], {
      cwd: this.#folder,
      // Its files of samples under way are below the home folder.
      env: { ...process.env, HOME: this.#folder, XDG_DATA_HOME: join(this.#folder, "data") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let last;
    const lines = createInterface({ input: child.stdout });
    const ended = once(lines, "close").then(() => last);
    await new Promise((resolve) => {
      lines.on("line", (text) => {
        last = JSON.parse(text);
        if (last.type === "begin") resolve();
      });
      lines.once("close", resolve);
    });
    return { child, ended, begun: performance.now() };
  }
}

function assertEnded(line, cells) {
  if (line?.type === "ended" && line.finished === cells) return line;
  throw new Error(`Inspect AI has not finished ${cells} cells: ${JSON.stringify(line)}`);
}
