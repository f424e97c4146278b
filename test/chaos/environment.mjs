import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openEnvironment } from "../crash/campaign/environment.mjs";
import { endProcesses, listMounts, MARK, unmount } from "./cleanup.mjs";
import { createFinding } from "./findings.mjs";

/** Thrown where this machine cannot play a scenario; the message says what is missing. */
export class NotPlayableError extends Error {
  name = "NotPlayableError";
}

/** Thrown to a scenario that goes on after its end. */
class ClosedError extends Error {
  name = "ClosedError";
}

/** What all scenarios share: one Temporal server and one vendor, as processes, started for the first that asks. */
export class SharedEnvironment {
  #shared;

  constructor({ root, mark, graceMs }) {
    this.root = root;
    this.mark = mark;
    this.graceMs = graceMs;
    // PostgreSQL runs as a user of its own, in a folder below.
    chmodSync(root, 0o711);
    process.env.TMPDIR = root;
  }

  /** The stage of the crash campaign: Temporal, vendor, the vendor's log. */
  async campaign() {
    this.#shared ??= this.#open();
    return await this.#shared;
  }

  async #open() {
    const campaign = await this.#startOnce(openEnvironment);
    return { ...campaign, killServer: (awayMs) => this.#startOnce(() => campaign.killServer(awayMs)) };
  }

  /** What is started meanwhile belongs to no single scenario. */
  async #startOnce(start) {
    const mark = process.env[MARK];
    process.env[MARK] = `${this.mark}shared/`;
    try {
      return await start();
    } finally {
      process.env[MARK] = mark;
    }
  }

  async close() {
    await (await this.#shared?.catch(() => undefined))?.close();
    this.#shared = undefined;
  }
}

/** What one scenario plays on. Everything that it starts ends with it. */
export class ScenarioEnvironment {
  #world;
  #endings = [];
  #isClosed = false;

  constructor(world, name) {
    this.#world = world;
    this.name = name;
    this.mark = `${world.mark}${name}/`;
    this.folder = join(world.root, name);
    mkdirSync(this.folder, { recursive: true });
    // Everything that is started from now on inherits it.
    process.env[MARK] = this.mark;
  }

  /** Of all scenarios; never to be closed by one. */
  campaign() {
    this.mustBeOpen();
    return this.#world.campaign();
  }

  /** Registers what ends something. Endings run in reverse order; one that fails does not keep the others. */
  onEnd(ending) {
    if (this.#isClosed) {
      Promise.resolve()
        .then(ending)
        .catch(() => {});
      this.mustBeOpen();
    }
    this.#endings.push(ending);
  }

  /** A new folder of this scenario. */
  subfolder(name) {
    this.mustBeOpen();
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** @returns What is left although it was ended: a finding for each process and mount. */
  async close() {
    this.#isClosed = true;
    for (const ending of this.#endings.splice(0).reverse()) {
      try {
        await ending();
      } catch {
        // What it has left is seen below.
      }
    }
    const remaining = await endProcesses({ mark: this.mark, folder: this.folder }, this.#world.graceMs);
    const mounts = listMounts(this.folder);
    for (const point of mounts) unmount(point);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    return [
      ...remaining.map(({ pid, command }) =>
        createFinding("leaked", `process ${pid} was left running: ${command}`),
      ),
      ...mounts.map((point) => createFinding("leaked", `${point} was left mounted`)),
    ];
  }

  /** @throws ClosedError when the scenario is over: nothing may be started any more. */
  mustBeOpen() {
    if (this.#isClosed) throw new ClosedError(`scenario ${this.name} is over`);
  }
}
