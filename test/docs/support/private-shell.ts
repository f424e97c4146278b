import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { eventually } from "../../support/eventually.ts";

/** A network of its own has all ports free, so that commands with fixed ports do not meet those of other tests. */
export const hasPrivateNetwork = spawnSync("unshare", ["-rn", "ip", "link", "set", "lo", "up"]).status === 0;
export const NO_PRIVATE_NETWORK = "no network namespaces here (they need Linux, unshare and ip)";

const END = "=== end of the block, exit code";

/** A shell that runs blocks of commands one after the other, in a network of its own. */
export class PrivateShell {
  readonly #child: ChildProcess;
  #output = "";

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    const shell = ["bash", "-c", "ip link set lo up; exec bash 2>&1"];
    this.#child = spawn("unshare", ["-rn", ...shell], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
    });
  }

  /** Runs commands, and returns what they print. Rejects if the last one fails. */
  async run(commands: string): Promise<string> {
    const start = this.#output.length;
    // Standard input is this script, which no command may read.
    this.#child.stdin?.write(`{ ${commands}\n} </dev/null\necho "${END} $?"\n`);
    const output = await eventually(
      () => {
        const [text, code] = this.#output.slice(start).split(END);
        return code?.includes("\n") ? { text: text ?? "", code: Number(code) } : undefined;
      },
      { what: `the end of:\n${commands}`, timeoutMs: 180_000 },
    );
    if (output.code !== 0) throw new Error(`exit code ${output.code}:\n${commands}\n${output.text}`);
    return output.text;
  }

  /** Ends the shell and its background jobs, which are in its process group. */
  async stop(): Promise<void> {
    this.#signal("SIGTERM");
    await eventually(() => !this.#signal(0), { what: "the end of the background jobs" });
  }

  #signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-(this.#child.pid as number), signal);
    } catch {
      return false;
    }
  }
}
