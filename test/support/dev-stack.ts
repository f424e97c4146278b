import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findFreePort } from "../../src/devserver/find-free-port.ts";
import { eventually } from "./eventually.ts";

const CLI = resolve(import.meta.dirname, "../../dist/apps/cli/main.js");

/** A running `holdfast dev`, as at a user's terminal. Tests can find and kill its server. */
export class DevStack {
  readonly #child: ChildProcess;
  readonly #home: string;
  #output = "";

  private constructor(child: ChildProcess, home: string) {
    this.#child = child;
    this.#home = home;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
  }

  /** Resolves when the worker is ready. */
  static async start(home: string): Promise<DevStack> {
    const port = await findFreePort(0);
    const args = [
      "--home",
      home,
      "dev",
      "--port",
      `${port}`,
      "--ui-port",
      `${await findFreePort(0, [port])}`,
    ];
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const stack = new DevStack(child, home);
    await stack.waitForOutput(/worker +ready/);
    return stack;
  }

  /** Returns all output so far. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until the output contains the pattern this many times. */
  async waitForOutput(words: RegExp, times = 1): Promise<void> {
    const all = new RegExp(words, "g");
    await eventually(() => (this.#output.match(all) ?? []).length >= times, {
      what: `"${words.source}", ${times} times; the output is:\n${this.#output}`,
      timeoutMs: 90_000,
    });
  }

  /** Finds the Temporal server, a child of the supervising shell. */
  getServerPid(): number {
    const { pid } = JSON.parse(readFileSync(join(this.#home, "server", "server.json"), "utf8")) as {
      pid: number;
    };
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
    const found = children.find((child) =>
      readFileSync(`/proc/${child}/cmdline`, "utf8").includes("start-dev"),
    );
    if (found === undefined) throw new Error(`The supervisor ${pid} has no server`);
    return found;
  }

  /** Ends the stack as Ctrl-C does, and returns the exit code. */
  async stop(): Promise<number | null> {
    if (!this.isRunning) return this.#child.exitCode;
    const ended = new Promise<number | null>((settle) => this.#child.once("exit", settle));
    this.#child.kill("SIGINT");
    return await ended;
  }
}
