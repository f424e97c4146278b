import { isUserText } from "../../conversation/compaction/clip.ts";
import { isText, type Section, toSpans } from "../../conversation/compaction/plan.ts";
import { COMPACTION_KIND } from "../../conversation/message-visibility.ts";
import type { CompactCommand } from "../../core/machine/state/activity-command.ts";
import type { CompactDigest } from "../../core/machine/state/digest.ts";
import { isUncompacted, type Span } from "../../core/view/view.ts";
import { toViewRanges } from "../../core/view/view-ranges.ts";
import type { StreamOptions } from "../../models/provider.ts";
import { BUILT_IN_STRATEGIES } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Entry } from "../../schema/record.ts";
import type { NewEntry } from "../../store/transcript/store-write.ts";
import { ApplicationError } from "../step/failure.ts";
import { type PlanDependencies, planCompaction } from "./plan-compaction.ts";
import { retainMemos } from "./retain-memos.ts";

export type CompactionInput = Pick<
  CompactCommand,
  "view" | "position" | "contextTokens" | "viewTokens" | "reason"
>;

/**
 * Returns a smaller view of these entries and the entry that stores its texts, or neither when nothing can be made
 * smaller.
 *
 * A rejected plan leaves the view as it is. A view that does not fit is an error.
 */
export async function compactEntries(
  entries: readonly Entry[],
  definition: AgentDefinition,
  input: CompactionInput,
  atMs: number,
  helpers: PlanDependencies,
  signal: AbortSignal,
  onWait?: StreamOptions["onWait"],
): Promise<{ readonly digest: CompactDigest; readonly entry: NewEntry | undefined }> {
  const planned = await planCompaction(entries, definition, input, helpers, signal, onWait);
  const { sections, rejected, usage, costUsd, fallbacks: fallback } = planned;
  const paid = { usage, costUsd, ...(fallback.length === 0 ? {} : { fallbacks: fallback }) };
  if (rejected !== undefined) {
    helpers.log.warn({ agent: definition.name }, rejected);
    if (input.reason.type === "overflow") {
      const { strategy = "" } = definition.context?.compaction ?? {};
      const isOurs = (BUILT_IN_STRATEGIES as readonly string[]).includes(strategy);
      throw new ApplicationError(isOurs ? "overflow" : "compaction", rejected);
    }
    return {
      digest: { ...buildUnchangedDigest(entries, input), rejected, ...paid },
      entry: undefined,
    };
  }
  const digest = { ...buildDigest(sections, entries, input), ...paid };
  if (input.reason.type === "overflow") checkIsSmaller(digest, input);
  return {
    digest,
    entry: digest.spans === undefined ? undefined : buildCompactionEntry(sections, digest.spans, input, atMs),
  };
}

/**
 * Throws when the new view is not smaller than a context that the vendor has rejected, because such a view is not sent
 * again.
 */
function checkIsSmaller(
  { spans, tokensAfter }: CompactDigest,
  { contextTokens, viewTokens = contextTokens }: CompactionInput,
): void {
  if (spans !== undefined && tokensAfter < viewTokens) return;
  const problem = `the vendor rejected a context of about ${viewTokens} tokens (an estimate), and nothing more can be left out`;
  throw new ApplicationError("overflow", problem);
}

function buildUnchangedDigest(entries: readonly Entry[], { contextTokens }: CompactionInput): CompactDigest {
  const messages = entries.length;
  return {
    branch: "",
    messagesBefore: messages,
    messagesAfter: messages,
    tokensBefore: contextTokens,
    tokensAfter: contextTokens,
    loopsCompacted: 0,
  };
}

/** Builds the digest of a plan. A plan that leaves every entry as it is changes nothing. */
function buildDigest(
  sections: readonly Section[],
  entries: readonly Entry[],
  { view, position, contextTokens }: CompactionInput,
): CompactDigest {
  const before = entries.length;
  const spans = retainMemos(toSpans(sections, position), view);
  const same = view.ranges.every(isUncompacted);
  const showsAll = sections.every(({ form }) => form === "whole");
  const after = sections.reduce((sum, section) => sum + countMessages(section, entries), 0);
  const counts = {
    branch: "",
    messagesBefore: before,
    messagesAfter: after,
    tokensBefore: contextTokens,
    tokensAfter: spans.reduce((sum, span) => sum + span.tokens, 0),
    loopsCompacted: new Set(
      sections.flatMap(({ form, from, to }) => (form === "whole" ? [] : listLoops(entries, from, to))),
    ).size,
  };
  return same && showsAll && after === before ? counts : { ...counts, spans };
}

/** Counts the messages of a section that a model sees. */
function countMessages({ form, from, to }: Section, entries: readonly Entry[]): number {
  if (!isText(form)) return to - from;
  const { userTextFrom } = form;
  if (userTextFrom === undefined) return 1;
  const isKept = (entry: Entry) => entry.position >= userTextFrom && entry.position < to && isUserText(entry);
  return 1 + entries.filter(isKept).length;
}

function listLoops(entries: readonly Entry[], from: number, to: number): readonly string[] {
  return entries.flatMap(({ position, message }) =>
    position >= from && position < to && message.role !== "extension" && message.turnId !== undefined
      ? [message.turnId.loopId]
      : [],
  );
}

/** Builds the entry with the ranges of the new view, so that what the model saw afterwards can be reconstructed. */
function buildCompactionEntry(
  sections: readonly Section[],
  spans: readonly Span[],
  { position, reason }: CompactionInput,
  atMs: number,
): NewEntry {
  const texts = sections.flatMap(({ from, to, form }) =>
    isText(form) ? [{ from, to, text: form.summary }] : [],
  );
  return {
    position,
    origin: "machine" as const,
    message: {
      role: "extension" as const,
      kind: COMPACTION_KIND,
      data: { reason: reason.type, sections: texts, ranges: toViewRanges({ branch: "", spans }).ranges },
      timestamp: atMs,
    },
  };
}
