import { CancelledFailure } from "@temporalio/activity";
import { truncateForPreview } from "../core/preview.ts";
import { redact } from "../core/redact.ts";
import { DEFAULT_HOOK_TIMEOUT_MS } from "../hooks/time-limit.ts";
import type { NewMessage } from "../transcript/transcript.ts";
import type { Dependencies } from "./dependencies.ts";
import { DefinitionError } from "./failure.ts";

/** Of a reason, in bytes, the dots of a cut included: it stands in history, in two events and in the run's result. */
const REASON_BYTES = 512;

export type FilteredPrompts = {
  /** As they are to be stored: a warning stands at the end of the last prompt. */
  readonly prompts: readonly NewMessage[];
  /** Why none of them may be stored. */
  readonly rejected?: string;
};

/** A definition that counts on a filter must not run without it. */
export function checkFilters(names: readonly string[], { filters }: Pick<Dependencies, "filters">): void {
  const unknown = names.filter((name) => !filters.names.includes(name));
  if (unknown.length === 0) return;
  const known = filters.names.length === 0 ? "it has none" : `it has ${filters.names.join(", ")}`;
  throw new DefinitionError(
    `This worker has no input filter ${unknown.map((name) => `"${name}"`).join(", ")}; ${known}`,
  );
}

/**
 * Asks the filters about what people have prompted; words that come along from a queue are not looked at (FILT-02).
 *
 * A filter that throws or does not answer in time rejects. One that is interrupted has decided nothing.
 */
export async function filterPrompts(
  names: readonly string[],
  prompts: readonly NewMessage[],
  { filters, log }: Pick<Dependencies, "filters" | "log">,
  signal: AbortSignal,
): Promise<FilteredPrompts> {
  const asked = prompts.filter(({ origin }) => origin === "prompt");
  const last = asked.at(-1);
  if (names.length === 0 || last === undefined) return { prompts };
  const text = asked.map((prompt) => prompt.text).join("\n");
  const { verdict, reports } = await filters.run(names, text, { signal, timeoutMs: DEFAULT_HOOK_TIMEOUT_MS });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  for (const { filter, result } of reports) {
    if (result.type === "failed") log.warn({ filter, how: result.how }, "An input filter failed");
  }
  switch (verdict.type) {
    case "pass":
      return { prompts };
    case "warn":
      return {
        prompts: prompts.map((prompt) =>
          prompt === last ? { ...prompt, text: `${prompt.text}\n\n${verdict.text}` } : prompt,
        ),
      };
    case "reject":
      return { prompts, rejected: truncateForPreview(redact(verdict.reason), REASON_BYTES - "...".length) };
  }
}
