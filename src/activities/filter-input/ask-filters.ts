import { CancelledFailure } from "@temporalio/activity";
import type { FilterVerdict } from "../../hooks/filters.ts";
import { DEFAULT_HOOK_TIMEOUT_MS } from "../../hooks/time-limit.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { Dependencies } from "../dependencies.ts";

/** Of a reason or a warning that stands in history, in bytes, the dots of a cut included. */
const REASON_BYTES = 512;

/**
 * What the filters say of one text: a reason, or all warnings together, bounded and free of secrets.
 *
 * A filter that throws or does not answer in time rejects. One that is interrupted has decided nothing.
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
    if (result.type === "failed") log.warn({ filter, how: result.how }, "An input filter failed");
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

/** As it may cross history. */
export function boundText(text: string): string {
  return redactPreview(text, REASON_BYTES - "...".length);
}
