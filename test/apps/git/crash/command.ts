import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../../../src/apps/git/repository/find-program.ts";
import { resolveBuiltFile } from "../../../../src/testing/built-file.ts";

/** When the process of a command kills itself: around its n-th git process, or when the vendor gets its n-th request. */
export type CommandKill =
  | { readonly at: "before-git" | "after-git"; readonly nth: number }
  | { readonly at: "request"; readonly nth: number };

export type CommandEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The lines of standard output, which are JSON. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly stderr: string;
};

export type RunningCommand = { readonly kill: () => void; readonly ended: Promise<CommandEnd> };

const TIMEOUT_MS = 180_000;

/** Runs `holdfast` as a process of its own. @param path - Folders before those of PATH. */
export function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  path: readonly string[] = [],
): RunningCommand {
  const child = spawn(process.execPath, [resolveBuiltFile("apps/cli/main.js"), ...args], {
    env: { ...process.env, ...env, PATH: [...path, process.env["PATH"]].join(":") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  const kill = () => void child.kill("SIGKILL");
  const timer = setTimeout(kill, TIMEOUT_MS);
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const lines = output.stdout
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
      resolve({ code, signal, lines, stderr: output.stderr });
    });
  });
  return { kill, ended };
}

/** A git that writes down its calls, and kills the process that has called it at one of them. */
export class KillingGit {
  readonly folder: string;
  readonly #log: string;

  constructor(folder: string, kill: CommandKill | undefined) {
    this.folder = join(folder, "bin");
    this.#log = join(folder, "git-calls");
    const git = findProgram("git", folder);
    if (git === undefined) throw new Error("There is no git on PATH.");
    mkdirSync(this.folder, { recursive: true });
    const strike = (at: CommandKill["at"]) =>
      kill?.at === at ? `[ "$n" = ${kill.nth} ] && kill -9 "$PPID"` : ":";
    const lines = [
      "#!/bin/sh",
      `echo "$*" >> '${this.#log}'`,
      `n=$(wc -l < '${this.#log}' | tr -d ' ')`,
      // A killed process starts nothing more.
      kill?.at === "before-git" ? `[ "$n" = ${kill.nth} ] && kill -9 "$PPID" && exit 1` : ":",
      `'${git}' "$@"`,
      "code=$?",
      strike("after-git"),
      "exit $code",
    ];
    const file = join(this.folder, "git");
    writeFileSync(file, `${lines.join("\n")}\n`);
    chmodSync(file, 0o755);
  }

  /** Returns the arguments of each call so far. */
  listCalls(): readonly string[] {
    return existsSync(this.#log) ? readFileSync(this.#log, "utf8").trimEnd().split("\n") : [];
  }
}
