import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { findRipgrep } from "../../../tools/builtin/find-ripgrep.ts";

/** The most files that are offered: a menu of more helps nobody, and a home folder may have millions. */
const MAX_FILES = 20_000;
const TIMEOUT_MS = 3_000;
/** How long a list is used: long enough for typing one name. */
const FRESH_MS = 5_000;

/** The files of a workspace that git does not ignore, for completion. */
export class WorkspaceFiles {
  readonly #folder: string;
  #listed: Promise<readonly string[]> | undefined;
  #listedAtMs = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns Paths relative to the workspace; none if there is no ripgrep, or no such folder on this machine. */
  list(): Promise<readonly string[]> {
    const nowMs = performance.now();
    if (this.#listed === undefined || nowMs - this.#listedAtMs > FRESH_MS) {
      this.#listedAtMs = nowMs;
      this.#listed = listFiles(this.#folder);
    }
    return this.#listed;
  }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const ripgrep = await findRipgrep();
  if (ripgrep === undefined) return [];
  const files: string[] = [];
  const args = ["--no-config", "--files", "--hidden", "--no-require-git", "--no-messages", "--glob=!.git"];
  const child = spawn(ripgrep, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  for await (const file of createInterface({ input: child.stdio[1] })) {
    // A name that a terminal would act on is not offered.
    if (!/\p{Cc}/u.test(file)) files.push(file);
    if (files.length >= MAX_FILES) break;
  }
  child.kill();
  await ended;
  return files.sort();
}
