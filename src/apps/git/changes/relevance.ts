import type { ChangedFile, ChangeType, Signal } from "./change-set.ts";
import { classifyFile, type FileKind, isSourceFile } from "./file-kind.ts";

/** How much a file says about the meaning of a change set (IRIS-27). */
export type Relevance = {
  /** From 0 to 100. */
  readonly percent: number;
  /** What has raised or lowered it. */
  readonly reasons: readonly string[];
};

const BASE = 50;

const OF_CHANGE: Readonly<Record<ChangeType, readonly [number, string?]>> = {
  added: [15, "new file"],
  copied: [15, "new file"],
  modified: [10],
  renamed: [10, "renamed"],
  "type-changed": [10, "type changed"],
  unmerged: [10, "unmerged"],
  deleted: [5, "deleted"],
};

const OF_KIND: Readonly<Record<FileKind, readonly [number, string?]>> = {
  source: [15, "source code"],
  // A test is source code too, below the code that it tests.
  test: [-10, "test"],
  config: [10, "config"],
  docs: [2, "docs"],
  generated: [-20, "generated"],
  vendored: [-30, "vendored"],
  other: [0],
};
const SOURCE_OF_TEST = 15;
const CORE_SOURCE = 10;

/** A change of a few lines rarely matters most, and one of hundreds is often mechanical. */
const SUBSTANTIVE = { above: 10, below: 200, percent: 10 };
const LARGE_PERCENT = 5;

const OF_SIGNAL: Readonly<Record<Signal, number>> = {
  "adds function": 10,
  "adds type": 10,
  "modifies imports": 0,
};

export function scoreRelevance(file: ChangedFile): Relevance {
  const kind = classifyFile(file.path);
  const isHandWritten = kind !== "generated" && kind !== "vendored";
  const lines = file.added + file.deleted;
  const parts: readonly (readonly [number, string?])[] = [
    OF_CHANGE[file.change],
    OF_KIND[kind],
    ...(kind === "test" && isSourceFile(file.path) ? [[SOURCE_OF_TEST] as const] : []),
    ...(isHandWritten && kind !== "test" && /(^|\/)src\//i.test(file.path)
      ? [[CORE_SOURCE, "core source"] as const]
      : []),
    ...(lines > SUBSTANTIVE.above && lines < SUBSTANTIVE.below
      ? [[SUBSTANTIVE.percent, "substantive changes"] as const]
      : []),
    ...(lines >= SUBSTANTIVE.below ? [[LARGE_PERCENT, "large diff"] as const] : []),
    ...file.signals.map((signal) => [OF_SIGNAL[signal], signal] as const),
  ];
  const sum = parts.reduce((total, [percent]) => total + percent, BASE);
  return {
    percent: Math.min(100, Math.max(0, sum)),
    reasons: parts.flatMap(([, reason]) => (reason === undefined ? [] : [reason])),
  };
}

/** A file with its relevance. */
export type RankedFile = { readonly file: ChangedFile; readonly relevance: Relevance };

/** Returns the files by falling relevance; equal ones stay in git's order. */
export function rankFiles(files: readonly ChangedFile[]): readonly RankedFile[] {
  return files
    .map((file) => ({ file, relevance: scoreRelevance(file) }))
    .toSorted((a, b) => b.relevance.percent - a.relevance.percent);
}
