import { CancelledFailure } from "@temporalio/activity";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import { FencedError, StoreError } from "../../store/transcript/store-error.ts";
import type { CellResult } from "../../store/transcript/suites.ts";
import { DefinitionError } from "../step/failure.ts";

const MAX_MESSAGE_BYTES = 997;

/** Names the class of an error, as the outcome of a run does: failures of one class most often have one cause. */
function classifyFailure(error: unknown): string {
  if (error instanceof ProviderError) return error.fault;
  if (error instanceof DefinitionError) return "definition";
  return "other";
}

/** Returns whether an error says nothing about the cell: the store was gone, or the work was cancelled. */
export function isOutside(error: unknown): boolean {
  if (error instanceof StoreError || error instanceof FencedError) return true;
  if (error instanceof CancelledFailure) return true;
  if (error instanceof ProviderError) return error.fault === "cancelled";
  return error instanceof Error && error.name === "AbortError";
}

/** Builds the result of a cell that failed before it had an answer. */
export function buildFailedResult(
  error: unknown,
  attempt: number,
  { startedAtMs, endedAtMs }: { readonly startedAtMs: number; readonly endedAtMs: number },
): CellResult {
  const message = error instanceof Error ? error.message : String(error);
  return {
    state: "failed",
    attempt,
    outcome: classifyFailure(error),
    message: truncateForPreview(redactPreview(message, MAX_MESSAGE_BYTES), MAX_MESSAGE_BYTES),
    usage: NO_USAGE,
    costUsd: 0,
    turns: 0,
    durationMs: endedAtMs - startedAtMs,
    paidAnswers: 0,
    storedAnswers: 0,
    endedAtMs,
  };
}
