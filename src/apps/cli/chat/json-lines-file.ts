import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../start-checks.ts";

/** The file is rewritten when it has this many more entries than are kept. */
const REWRITE_AFTER = 200;

/**
 * A short list in a file of the home folder that only its owner can read: one JSON value a line, the oldest first. Several
 * processes append to it at the same time.
 *
 * A file that cannot be read or written is ignored: a chat does not depend on it.
 */
export class JsonLinesFile<Entry> {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Reads the newest entries, and removes older ones from the file when there are many of them.
   *
   * @param parse - Returns nothing for a value that another version has written.
   */
  read(parse: (value: unknown) => Entry | undefined, maxEntries: number): readonly Entry[] {
    const lines = readLines(this.#file);
    const entries = lines.flatMap((line) => parseLine(line, parse)).slice(-maxEntries);
    if (lines.length > maxEntries + REWRITE_AFTER) this.#rewrite(entries);
    return entries;
  }

  append(entry: Entry): void {
    try {
      makeFolder(dirname(this.#file));
      appendFileSync(this.#file, formatLine(entry), { mode: 0o600 });
    } catch {
      // The entry is not kept.
    }
  }

  #rewrite(entries: readonly Entry[]): void {
    const part = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(part, entries.map(formatLine).join(""), { mode: 0o600 });
      renameSync(part, this.#file);
    } catch {
      // The longer file stays.
    }
  }
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}

/** A line that an interrupted write left is skipped. */
function parseLine<Entry>(line: string, parse: (value: unknown) => Entry | undefined): readonly Entry[] {
  try {
    const entry = parse(JSON.parse(line));
    return entry === undefined ? [] : [entry];
  } catch {
    return [];
  }
}

function formatLine(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}
