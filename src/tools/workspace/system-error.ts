import { getSystemErrorMap } from "node:util";
import { ToolError } from "../tool-execution.ts";

/** Returns the operating system's message, without the internal paths of Node's own message. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errno, code } = error as NodeJS.ErrnoException;
  const sentence = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return sentence === undefined ? error.message : `${sentence} (${code})`;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

/** A path from the model is unusable for the operation. The message is a clause about the path: "it is a directory". */
export class PathError extends Error {
  override readonly name = "PathError";
}

/** Converts errors about files and paths to a `ToolError` with the given prefix. Returns any other error unchanged. */
export function toToolError(error: unknown, prefix: string): unknown {
  const isOurs = error instanceof PathError || (error as NodeJS.ErrnoException).errno !== undefined;
  if (!isOurs) return error;
  return new ToolError("failed", `${prefix}: ${describeSystemError(error)}`, { cause: error });
}

export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ToolError("cancelled", "Cancelled");
}
