import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import xterm from "@xterm/headless";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { eventually } from "../support/eventually.ts";

/** The terminal's program of util-linux, which gives another program a terminal. */
export const hasPseudoTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";

export type PseudoTerminalOptions = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
  /** Printed before the program starts, as a shell's earlier output. */
  readonly before?: string;
};

/** The command line of the build at a real terminal, whose screen an emulator displays. */
export class PseudoTerminal {
  readonly #child: ChildProcess;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  readonly #ttyFile: string;
  /** All that the program wrote. */
  output = "";
  readonly exitCode: Promise<number | null>;

  private constructor(args: readonly string[], options: PseudoTerminalOptions) {
    const { env, cwd, columns = 100, rows = 30, before = "" } = options;
    this.#ttyFile = join(cwd, `.tty-${performance.now()}`);
    const program = [process.execPath, resolveBuiltFile("apps/cli/main.js"), ...args];
    const command = [
      `tty >${quote(this.#ttyFile)}`,
      `stty rows ${rows} columns ${columns}`,
      ...(before === "" ? [] : [`printf '%s\\n' ${quote(before)}`]),
      `exec ${program.map(quote).join(" ")}`,
    ].join("; ");
    this.#child = spawn("/usr/bin/script", ["-qefc", command, "/dev/null"], {
      cwd,
      env: {
        PATH: process.env["PATH"],
        HOLDFAST_SANDBOX: "off",
        SHELL: "/bin/sh",
        TERM: "xterm-256color",
        ...env,
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
    // The terminal answers questions of the program.
    this.#screen.onData((answer) => this.type(answer));
    this.#child.stdout?.on("data", (chunk: Buffer) => {
      this.output += chunk.toString();
      this.#screen.write(chunk);
    });
    this.#child.stdin?.on("error", () => undefined);
    this.exitCode = new Promise((resolve) => this.#child.once("close", resolve));
  }

  static open(args: readonly string[], options: PseudoTerminalOptions): PseudoTerminal {
    return new PseudoTerminal(args, options);
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  paste(text: string): void {
    this.type(`${PASTE_BEGIN}${text.replaceAll("\n", "\r")}${PASTE_END}`);
  }

  /** The visible rows, from the top. */
  get rows(): readonly string[] {
    const { baseY } = this.#screen.buffer.active;
    return this.all.slice(baseY, baseY + this.#screen.rows);
  }

  /** All rows, those that the user can scroll back to included. */
  get all(): readonly string[] {
    const { active } = this.#screen.buffer;
    return Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true) ?? "",
    );
  }

  /** The rows that have text, as one text. */
  get text(): string {
    return this.rows.filter((row) => row !== "").join("\n");
  }

  /** Waits until the screen shows the text. */
  async waitFor(text: string | RegExp, timeoutMs = 20_000): Promise<void> {
    await this.waitUntil((screen) => (typeof text === "string" ? screen.includes(text) : text.test(screen)), {
      what: String(text),
      timeoutMs,
    });
  }

  async waitUntil(
    isSeen: (screen: string) => boolean,
    { what = "the screen", timeoutMs = 20_000 }: { readonly what?: string; readonly timeoutMs?: number } = {},
  ): Promise<void> {
    await eventually(() => isSeen(this.text), { what, timeoutMs }).catch((error: Error) => {
      throw new Error(`${error.message}. The screen:\n${this.rows.join("\n")}`);
    });
  }

  /** Changes the size of the terminal, as its window's frame does. */
  resize(columns: number, rows: number): void {
    const tty = readFileSync(this.#ttyFile, "utf8").trim();
    this.#screen.resize(columns, rows);
    const { status, stderr } = spawnSync("stty", [
      "-F",
      tty,
      "rows",
      String(rows),
      "columns",
      String(columns),
    ]);
    if (status !== 0) throw new Error(`stty: ${stderr.toString()}`);
  }

  /** Takes the terminal away, if the program still has it. */
  close(): void {
    this.#child.kill("SIGKILL");
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
