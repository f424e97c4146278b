import { buildCleanEnvironment } from "../../platform/process/clean-environment.ts";
import { decodeLine, LineSplitter } from "../../platform/process/line-splitter.ts";
import { startWithoutSandbox } from "../../platform/process/process-starter.ts";
import { runSupervised, StartError } from "../../platform/process/run-supervised.ts";
import { type ToolContext, ToolError } from "../tool-execution.ts";
import type { OpenFolder } from "../workspace/workspace-access.ts";

/** The limit for one line of output. A match in minified code or data may have any length. */
const MAX_LINE_BYTES = 4 * 1024;
const MAX_ERROR_BYTES = 16 * 1024;

export type FinderCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: OpenFolder;
  readonly stdin?: number | undefined;
  readonly timeoutMs: number;
  /** The error that the model reads after a timeout. */
  readonly timeoutMessage: string;
  readonly maxLines: number;
  /** The program is stopped after more lines than this. */
  readonly maxCounted: number;
  readonly context: ToolContext;
};

export type FinderResult = {
  /** The first lines. */
  readonly lines: readonly string[];
  /** The number of all lines, including those that were not returned. */
  readonly total: number;
  readonly stderr: string;
  /** -1 if the program was stopped. */
  readonly exitCode: number;
};

/** Runs a program that prints one result per line. */
export async function runFinder(finder: FinderCommand): Promise<FinderResult> {
  const { context } = finder;
  const lines: string[] = [];
  let total = 0;
  const lineLimit = new AbortController();
  const splitter = new LineSplitter(MAX_LINE_BYTES, (line, isCut) => {
    if (total >= finder.maxCounted) return lineLimit.abort();
    total += 1;
    if (lines.length < finder.maxLines) lines.push(decodeLine(line, isCut));
  });
  const result = await runSupervised({
    // The program is the user's own, and runs nothing that an agent has written.
    start: startWithoutSandbox,
    command: finder.command,
    args: finder.args,
    cwd: finder.folder.getPath(),
    env: buildCleanEnvironment(context.idempotencyKey),
    stdin: finder.stdin,
    signal: AbortSignal.any([context.signal, lineLimit.signal]),
    timeoutMs: finder.timeoutMs,
    graceMs: 0,
    maxOutputBytes: MAX_ERROR_BYTES,
    onSpawned: context.onSpawned,
    onStdoutChunk: (chunk) => splitter.push(chunk),
  }).catch((error: unknown) => {
    if (!(error instanceof StartError)) throw error;
    throw new ToolError("failed", `Failed to execute: ${error.message}`, { cause: error });
  });
  if (context.signal.aborted) throw new ToolError("cancelled", "Cancelled");
  if (result.ending === "timed-out") throw new ToolError("failed", finder.timeoutMessage);
  splitter.end();
  const wasStopped = result.ending === "cancelled";
  if (!wasStopped && result.exitCode === null) {
    throw new ToolError("failed", `${finder.command} was terminated by ${result.signal ?? "a signal"}`);
  }
  return { lines, total, stderr: result.stderr.trim(), exitCode: wasStopped ? -1 : (result.exitCode ?? -1) };
}
