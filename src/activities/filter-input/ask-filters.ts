import { CancelledFailure } from "@temporalio/activity";
import type { FilterVerdict } from "../../hooks/filters.ts";
import { DEFAULT_HOOK_TIMEOUT_MS } from "../../hooks/time-limit.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { Dependencies } from "../dependencies.ts";

/** The most bytes of a reason or a warning in history, including the dots of a cut. */
const REASON_BYTES = 512;

/**
 * Returns the verdict of the filters on one text: a reason, or all warnings together, bounded and without secrets.
 *
 * A filter that throws or times out rejects the text. An interrupted filter has decided nothing.
 */
export async function askFilters(
  names: readonly string[],
  text: string,
  { filters, log }: Pick<Dependencies, "filters" | "log">,
  signal: AbortSignal,
): Promise<FilterVerdict> {
  const { verdict, reports } = await filters.run(names, text, { signal, timeoutMs: DEFAULT_HOOK_TIMEOUT_MS });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  for (const { filter, result } of reports) {
    if (result.type === "failed") log.warn({ filter, how: result.fault }, "An input filter failed");
  }
  switch (verdict.type) {
    case "reject":
      return { ...verdict, reason: boundText(verdict.reason) };
    case "warn":
      return { ...verdict, text: boundText(verdict.text) };
    case "pass":
      return verdict;
  }
}

/** Bounds a text and removes secrets, so that it may cross history. */
export function boundText(text: string): string {
  return redactPreview(text, REASON_BYTES - "...".length);
}
