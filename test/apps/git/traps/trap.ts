import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a repository outside contains, and no answer may show. */
export const SECRET = "only-the-other-repository-knows-this";

export type Trap = {
  readonly name: string;
  /** Makes the repository hostile. */
  readonly set: (place: TrapPlace) => void;
  /** The arguments of a plain git that walks into the trap: it proves that the trap is one. */
  readonly fire?: readonly string[];
  /** Calls beside the ordinary ones: tool and arguments. */
  readonly calls?: readonly (readonly [string, Readonly<Record<string, unknown>>])[];
  /** A check of the texts of all answers together. */
  readonly check?: (text: string, place: TrapPlace) => void;
};

const IDENTITY = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

let template: string | undefined;

/** Makes the repositories once: each trap gets a copy. */
function makeTemplate(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-trap-template-")));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const git = (name: string, ...args: readonly string[]) => runPlainGit(args, join(folder, name), folder);
  const write = (name: string, path: string, text: string) => {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true });
    writeFileSync(join(folder, name, path), text);
  };
  write("victim", "secret.txt", `${SECRET}\n`);
  write("repository", "f.txt", "one\n");
  write("repository", "src/code.ts", "export function first(): number {\n  return 1;\n}\n");
  for (const name of ["victim", "repository"]) {
    git(name, "init", "--quiet", "--initial-branch=main");
    git(name, "add", "--all");
    git(name, "commit", "--quiet", "-m", name === "victim" ? SECRET : "first");
  }
  write("repository", "f.txt", "two\n");
  git("repository", "commit", "--quiet", "--all", "-m", "second");
  write("repository", "staged.txt", "staged\n");
  git("repository", "add", "staged.txt");
  write("repository", "f.txt", "three\n");
  return folder;
}

function runPlainGit(
  args: readonly string[],
  cwd: string,
  home: string,
  input?: string | Buffer,
  more: Readonly<Record<string, string>> = {},
): string {
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1", ...IDENTITY, ...more };
  return execFileSync("git", [...args], { cwd, env, input, stdio: "pipe", maxBuffer: 1e9 })
    .toString()
    .trim();
}

/** A repository with two commits, a staged and an unstaged change, and folders outside of it. */
export class TrapPlace {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-trap-")));
  /** The repository. */
  readonly top = join(this.folder, "repository");
  /** Another repository, with a secret. */
  readonly victim = join(this.folder, "victim");
  /** Exists once something of the repository's making has run. */
  readonly canary = join(this.folder, "canary");
  /** A program that leaves the canary. */
  readonly program = join(this.folder, "program");

  constructor() {
    template ??= makeTemplate();
    cpSync(template, this.folder, { recursive: true, preserveTimestamps: true });
    this.write(this.program, `#!/bin/sh\ntouch ${this.canary}\nexit 0\n`, "/");
    chmodSync(this.program, 0o755);
  }

  write(path: string, text: string | Buffer, folder = this.top): void {
    const file = path.startsWith("/") ? path : join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Writes a setting of the repository. */
  configure(...lines: readonly string[]): void {
    for (const line of lines) {
      const [key = "", ...value] = line.split("=");
      this.git(["config", key, value.join("=")]);
    }
  }

  commit(message: string): void {
    this.git(["add", "--all"]);
    this.git(["commit", "--quiet", "-m", message]);
  }

  /** Runs a plain git, which trusts the repository. */
  git(
    args: readonly string[],
    options: { cwd?: string; input?: string | Buffer; env?: Readonly<Record<string, string>> } = {},
  ): string {
    return runPlainGit(args, options.cwd ?? this.top, this.folder, options.input, options.env);
  }

  /** Walks into the trap, and returns whether something ran. */
  fire(args: readonly string[]): boolean {
    const env = { PATH: process.env["PATH"], HOME: this.folder, GIT_CONFIG_NOSYSTEM: "1", ...IDENTITY };
    spawnSync("git", [...args], { cwd: this.top, env, stdio: "ignore", timeout: 20_000 });
    const hasRun = existsSync(this.canary);
    rmSync(this.canary, { force: true });
    return hasRun;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
