import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { GrammarReply, SourceFile } from "./grammar-worker.ts";
import { findLanguage } from "./languages.ts";
import type { FileSymbols } from "./symbols.ts";

/** An ordinary file takes a few milliseconds, and the first of a language the time to load its grammar. */
const FILE_TIMEOUT_MS = 3_000;
/** A repository of files that are hard to parse is mapped by pattern. */
const MAX_TIMEOUTS = 3;

/**
 * Parses files in a thread of its own. A file that was written to be hard to parse would stop the process: the thread is
 * ended, and a new one parses the others.
 */
export class GrammarThread {
  #thread: Worker | undefined;
  #timeouts = 0;

  /** Finds what files define; undefined for a file without a grammar, or one that takes too long. */
  async parse(files: readonly SourceFile[]): Promise<readonly (FileSymbols | undefined)[]> {
    const found: (FileSymbols | undefined)[] = [];
    for (const file of files) found.push(await this.#parseOne(file));
    return found;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  async #parseOne(file: SourceFile): Promise<FileSymbols | undefined> {
    if (findLanguage(file.path) === undefined || this.#timeouts >= MAX_TIMEOUTS) return undefined;
    this.#thread ??= new Worker(findThreadFile(), { env: {}, execArgv: [] });
    const thread = this.#thread;
    const limit = AbortSignal.timeout(FILE_TIMEOUT_MS);
    const answered = once(thread, "message", { signal: limit });
    thread.postMessage(file);
    try {
      const [reply] = (await answered) as [GrammarReply];
      return reply ?? undefined;
    } catch {
      // It took too long, or its memory was not enough.
      this.#timeouts += 1;
      await this.close();
      return undefined;
    }
  }
}

/** The thread runs the built code. */
function findThreadFile(): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../../../dist/apps/git/map/" : "./";
  return fileURLToPath(new URL(`${folder}grammar-worker.js`, import.meta.url));
}
