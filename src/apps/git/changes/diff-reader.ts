import { LineReader } from "../text/line-reader.ts";
import type { ChangedFile, ChangeType, Hunk, Signal } from "./change-set.ts";
import { findSignals } from "./find-signals.ts";

// Reads `git diff --raw --numstat --patch -z`: records that end with NUL, an empty record, then the patches as lines. The
// paths come from the records alone. Those in a patch may contain line feeds, and a line of a file may look like the header
// of a patch: the counts of a hunk's header say which lines belong to it.

/** A line of a patch that is kept: longer ones are cut. */
const MAX_LINE_BYTES = 4 * 1024;

const CHANGES: Readonly<Record<string, ChangeType>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type-changed",
  U: "unmerged",
};

type OpenFile = { -readonly [Field in keyof ChangedFile]: ChangedFile[Field] } & {
  hunks: Hunk[];
  signals: Signal[];
};
type OpenHunk = { -readonly [Field in keyof Hunk]: Hunk[Field] } & { oldLeft: number; newLeft: number };

/** Receives each line of a patch, with the hunk that it belongs to; the header of a hunk comes first. */
export type PatchLines = (file: ChangedFile, hunkId: string, line: string, isCut: boolean) => void;

/** Reads the output of git in chunks of any size. */
export class DiffReader {
  readonly #files: OpenFile[] = [];
  readonly #lines = new LineReader(MAX_LINE_BYTES, (line, isCut) => this.#readLine(line, isCut));
  readonly #onLine: PatchLines | undefined;
  #record = Buffer.alloc(0);
  /** The paths that the last record still needs, and what it makes of them. */
  #pending: { needed: number; paths: string[]; use: (paths: readonly string[]) => void } | undefined;
  #inPatches = false;
  /** The file of the current patch, and how many more patches it has: a change of type has two. */
  #at = -1;
  #patchesLeft = 0;
  #hunk: OpenHunk | undefined;
  #counted = 0;
  /** The ids of the two sides of each file, by its place. */
  readonly #sides: (readonly string[])[] = [];
  /** The places of files that git neither counts nor shows: their two sides differ from the work tree in their own ways. */
  readonly #combined = new Set<number>();

  constructor(onLine?: PatchLines) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (!this.#inPatches) {
      const end = chunk.indexOf(0, from);
      if (end === -1) {
        this.#record = Buffer.concat([this.#record, chunk.subarray(from)]);
        return;
      }
      const record = Buffer.concat([this.#record, chunk.subarray(from, end)]).toString("utf8");
      this.#record = Buffer.alloc(0);
      from = end + 1;
      this.#readRecord(record);
    }
    this.#lines.push(chunk.subarray(from));
  }

  end(): readonly ChangedFile[] {
    this.#lines.end();
    this.#closeHunk();
    return this.#files;
  }

  /** Returns the ids of the two sides of a file; zeros for one that is missing, or that is in the work tree only. */
  getSides(file: ChangedFile): readonly string[] {
    return this.#sides[this.#files.indexOf(file as OpenFile)] ?? [];
  }

  #readRecord(record: string): void {
    if (this.#pending !== undefined) {
      const { paths, needed, use } = this.#pending;
      paths.push(record);
      if (paths.length < needed) return;
      this.#pending = undefined;
      use(paths);
      return;
    }
    if (record === "") {
      this.#inPatches = true;
      return;
    }
    // A conflict in the work tree has a mode, an id and a letter for each side.
    if (record.startsWith("::")) {
      this.#combined.add(this.#files.length);
      this.#readRaw("", "", "U", []);
      return;
    }
    const raw = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(record);
    if (raw !== null) {
      const [, oldMode = "", newMode = "", oldId = "", newId = "", letter = ""] = raw;
      this.#readRaw(oldMode, newMode, letter, [oldId, newId]);
      return;
    }
    const counts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(record);
    if (counts === null)
      throw new TypeError(`git printed an unknown record: ${JSON.stringify(record.slice(0, 80))}`);
    this.#readCounts(counts);
  }

  #readRaw(oldMode: string, newMode: string, letter: string, sides: readonly string[]): void {
    const needed = letter === "R" || letter === "C" ? 2 : 1;
    const use = ([first = "", second]: readonly string[]) => {
      this.#sides.push(sides);
      this.#files.push({
        path: second ?? first,
        ...(second === undefined ? {} : { previousPath: first }),
        change: CHANGES[letter] ?? "modified",
        oldMode,
        newMode,
        isBinary: false,
        added: 0,
        deleted: 0,
        hunks: [],
        signals: [],
      });
    };
    this.#pending = { needed, paths: [], use };
  }

  /** The records with counts follow in the order of the others, without those of conflicts in the work tree. */
  #readCounts([, added = "", deleted = "", path = ""]: RegExpExecArray): void {
    const use = () => {
      while (this.#combined.has(this.#counted)) this.#counted += 1;
      const file = this.#files[this.#counted];
      this.#counted += 1;
      if (file === undefined) throw new TypeError("git counted more files than it named");
      file.isBinary = added === "-";
      file.added = Number(added === "-" ? 0 : added);
      file.deleted = Number(deleted === "-" ? 0 : deleted);
    };
    if (path === "") this.#pending = { needed: 2, paths: [], use };
    else use();
  }

  #readLine(line: string, isCut: boolean): void {
    const hunk = this.#hunk;
    const file = this.#files[this.#at];
    if (file !== undefined && hunk !== undefined && hunk.oldLeft + hunk.newLeft > 0) {
      this.#readHunkLine(file, hunk, line, isCut);
      return;
    }
    // "\ No newline at end of file" follows the last line of a hunk.
    if (hunk !== undefined && file !== undefined && line.startsWith("\\")) {
      this.#onLine?.(file, hunk.id, line, isCut);
      return;
    }
    this.#closeHunk();
    if (line.startsWith("diff --git ")) this.#openPatch();
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (header === null || file === undefined) return;
    const [oldStart, oldLines, newStart, newLines] = header.slice(1).map((text) => Number(text ?? 1)) as [
      number,
      number,
      number,
      number,
    ];
    const counts = { oldStart, oldLines, newStart, newLines, added: 0, deleted: 0 };
    const id = buildHunkId(file.path, file.hunks.length + 1);
    this.#hunk = { id, ...counts, oldLeft: oldLines, newLeft: newLines };
    this.#onLine?.(file, id, line, isCut);
  }

  #readHunkLine(file: OpenFile, hunk: OpenHunk, line: string, isCut: boolean): void {
    const sign = line[0];
    if (sign !== "+" && sign !== "\\") hunk.oldLeft -= 1;
    if (sign !== "-" && sign !== "\\") hunk.newLeft -= 1;
    if (sign === "+") {
      hunk.added += 1;
      for (const signal of findSignals(file.path, line.slice(1)))
        if (!file.signals.includes(signal)) file.signals.push(signal);
    }
    if (sign === "-") hunk.deleted += 1;
    this.#onLine?.(file, hunk.id, line, isCut);
  }

  #openPatch(): void {
    if (this.#patchesLeft > 0) {
      this.#patchesLeft -= 1;
      return;
    }
    do this.#at += 1;
    while (this.#files[this.#at]?.change === "unmerged");
    this.#patchesLeft = this.#files[this.#at]?.change === "type-changed" ? 1 : 0;
  }

  #closeHunk(): void {
    if (this.#hunk === undefined) return;
    const { oldLeft: _, newLeft: __, ...hunk } = this.#hunk;
    this.#files[this.#at]?.hunks.push(hunk);
    this.#hunk = undefined;
  }
}

/** Builds the id of a hunk. @param nth - Counts from 1. */
function buildHunkId(path: string, nth: number): string {
  return `${path}:${nth}`;
}
