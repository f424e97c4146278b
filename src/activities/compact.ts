import { Context } from "@temporalio/activity";
import type { Section } from "../core/compaction/block.ts";
import type { CompactDigest } from "../core/digest.ts";
import { COMPACTION_KIND, type Span } from "../core/view.ts";
import { ProviderError } from "../providers/provider-error.ts";
import type { Entry } from "../schema/record.ts";
import type { CompactInput } from "./activities.ts";
import { claimStep } from "./claim-step.ts";
import type { Dependencies } from "./dependencies.ts";
import { ApplicationError, asFailure } from "./failure.ts";
import { beating } from "./heartbeat.ts";
import { patiently } from "./patience.ts";
import { isText, planCompaction } from "./plan-compaction.ts";
import { currentStep } from "./step.ts";

/**
 * Makes a view smaller (design 3.2). The record stays whole: what stands for older entries is one more entry, which no
 * model sees, and the new view refers to it.
 */
export async function compact(input: CompactInput, dependencies: Dependencies): Promise<CompactDigest> {
  const { transcript, conversations, definitions, log } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  const step = currentStep(input, dependencies.process);
  const definition = await definitions.byHash(input.definitionHash).catch((error) => {
    throw asFailure(error);
  });
  try {
    return await beating(
      () => undefined,
      async () => {
        const claimed = await claimStep(step, input, dependencies, signal);
        if (claimed.type === "stored") {
          return { ...(claimed.result as CompactDigest), branch: claimed.branch };
        }
        const { branch } = claimed;
        const entries = await conversations.entries(step.session, { ...input.view, branch });
        const planned = await planCompaction(entries, definition, input, dependencies, signal);
        const { sections, refused, usage, costUsd } = planned;
        if (refused !== undefined) log.warn({ session: step.session }, refused);
        // The machine goes on with the view as it is, except with one that does not fit.
        if (refused !== undefined && input.why.type === "overflow")
          throw new ApplicationError("compaction", refused);
        const digest =
          refused === undefined
            ? { ...digestOf(sections, entries, input), usage, costUsd }
            : { ...unchanged(entries, input), refused, usage, costUsd };
        const stored = await patiently(
          () =>
            transcript.store({
              loopId: input.loopId,
              base: input.base,
              branch,
              step,
              atMs: Date.now(),
              outbox: { entries: [], events: [] },
              entries: digest.spans === undefined ? [] : [entryOf(sections, input)],
              result: digest,
            }),
          signal,
          log,
        );
        return { ...(stored.result as CompactDigest), branch: stored.branch };
      },
    );
  } catch (error) {
    if (error instanceof ProviderError) await transcript.release(step).catch(() => undefined);
    throw asFailure(error, definition.retry);
  }
}

function unchanged(entries: readonly Entry[], { tokens }: CompactInput): CompactDigest {
  const messages = entries.length;
  return {
    branch: "",
    messagesBefore: messages,
    messagesAfter: messages,
    tokensBefore: tokens,
    tokensAfter: tokens,
    loopsCompacted: 0,
  };
}

/** A plan that shows everything as it is changes nothing. */
function digestOf(
  sections: readonly Section[],
  entries: readonly Entry[],
  { view, position, tokens }: CompactInput,
): CompactDigest {
  const before = entries.length;
  const spans = spansOf(sections, position);
  const same = view.ranges.every(({ cut, instead }) => cut === undefined && instead === undefined);
  const isWhole = sections.every(({ as }) => as === "whole");
  const after = sections.reduce((sum, { as, from, to }) => sum + (isText(as) ? 1 : to - from), 0);
  const counts = {
    branch: "",
    messagesBefore: before,
    messagesAfter: after,
    tokensBefore: tokens,
    tokensAfter: spans.reduce((sum, span) => sum + span.tokens, 0),
    loopsCompacted: new Set(
      sections.flatMap(({ as, from, to }) => (as === "whole" ? [] : loopsIn(entries, from, to))),
    ).size,
  };
  return same && isWhole && after === before ? counts : { ...counts, spans };
}

function loopsIn(entries: readonly Entry[], from: number, to: number): readonly string[] {
  return entries.flatMap(({ position, message }) =>
    position >= from && position < to && message.role !== "extension" && message.turnId !== undefined
      ? [message.turnId.loopId]
      : [],
  );
}

function spansOf(sections: readonly Section[], position: number): readonly Span[] {
  let section = 0;
  return sections.map(({ from, to, turns, tokens, as }) => ({
    from,
    to,
    turns,
    tokens,
    ...(isText(as) ? { instead: { position, section: section++ } } : {}),
    ...(as !== "whole" && !isText(as) ? { cut: as.cut } : {}),
  }));
}

function entryOf(sections: readonly Section[], { position, why }: CompactInput) {
  const texts = sections.flatMap(({ from, to, as }) => (isText(as) ? [{ from, to, text: as.summary }] : []));
  return {
    position,
    origin: "machine" as const,
    message: {
      role: "extension" as const,
      kind: COMPACTION_KIND,
      data: { why: why.type, sections: texts },
      timestamp: Date.now(),
    },
  };
}
