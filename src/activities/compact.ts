import { Context } from "@temporalio/activity";
import { type BlockOptions, planBlock, type Section } from "../core/compaction/block.ts";
import { summarise } from "../core/compaction/summary.ts";
import { triggerLevel } from "../core/compaction/trigger.ts";
import type { CompactDigest } from "../core/digest.ts";
import { estimateMessage } from "../core/estimate.ts";
import { NO_USAGE } from "../core/usage.ts";
import { COMPACTION_KIND, rangesOf, type Span } from "../core/view.ts";
import { ProviderError } from "../providers/provider-error.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { Usage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { CompactInput } from "./activities.ts";
import { claimStep } from "./claim-step.ts";
import type { Dependencies } from "./dependencies.ts";
import { asFailure } from "./failure.ts";
import { beating } from "./heartbeat.ts";
import { patiently } from "./patience.ts";
import { currentStep } from "./step.ts";
import { type Group, keyOf, summaries } from "./summarise.ts";

/** How far below the trigger a context is brought that the vendor has refused: our count of it was wrong. */
const OVERFLOW_SHARE = 0.5;

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
        const { sections, usage, costUsd } = await planned(entries, definition, input, dependencies, signal);
        const digest = { ...digestOf(sections, entries, input), usage, costUsd };
        const stored = await patiently(
          () =>
            transcript.store({
              loopId: input.loopId,
              base: input.base,
              branch,
              step,
              atMs: Date.now(),
              outbox: { entries: [], events: [] },
              entries: digest.spans === undefined ? [] : [entryOf(sections, digest.spans, input)],
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

type Planned = { readonly sections: readonly Section[]; readonly usage: Usage; readonly costUsd: number };

/** By the strategy that the definition names. The one that asks a model plans twice: what needs words, and with them. */
async function planned(
  entries: readonly Entry[],
  definition: AgentDefinition,
  { why }: CompactInput,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<Planned> {
  const { context } = definition;
  if (context === null) return { sections: [], usage: NO_USAGE, costUsd: 0 };
  const level = triggerLevel(context);
  const budget = why.type === "overflow" ? Math.floor(level * OVERFLOW_SHARE) : level;
  const plan = (summarise?: BlockOptions["summarise"]) =>
    planBlock(entries, context.compaction, budget, {
      maxContextTokens: context.maxContextTokens,
      ...(summarise === undefined ? {} : { summarise }),
    });
  if (context.compaction.strategy === "block") return { sections: plan(), usage: NO_USAGE, costUsd: 0 };

  const wanted = new Map<string, Group>();
  const long = plan((turns, maxTokens) => {
    wanted.set(keyOf({ turns }), { turns, maxTokens });
    return "x".repeat(Math.max(0, maxTokens * 4 - 64));
  });
  const groups = [...wanted.values()].filter(({ turns }) =>
    long.some(({ from, as }) => isText(as) && from === turns[0]?.entries[0]?.position),
  );
  const focus = why.type === "asked" ? why.focus : undefined;
  const { focusMessage } = context.compaction;
  const { texts, usage, costUsd } = await summaries(
    groups,
    definition,
    focus ?? focusMessage,
    dependencies,
    signal,
  );
  const sections = plan(
    (turns, maxTokens) => texts.get(keyOf({ turns })) ?? summarise(turns, maxTokens, estimateMessage),
  );
  return { sections, usage, costUsd };
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

/** With the ranges of the new view, so that what the model saw behind it can be made again. */
function entryOf(sections: readonly Section[], spans: readonly Span[], { position, why }: CompactInput) {
  const texts = sections.flatMap(({ from, to, as }) => (isText(as) ? [{ from, to, text: as.summary }] : []));
  return {
    position,
    origin: "machine" as const,
    message: {
      role: "extension" as const,
      kind: COMPACTION_KIND,
      data: { why: why.type, sections: texts, ranges: rangesOf({ branch: "", spans }).ranges },
      timestamp: Date.now(),
    },
  };
}

function isText(as: Section["as"]): as is { readonly summary: string } {
  return typeof as === "object" && "summary" in as;
}
