import type { CompactCommand } from "../core/command.ts";
import { type BlockOptions, planBlock, type Section } from "../core/compaction/block.ts";
import { summarise } from "../core/compaction/summary.ts";
import { triggerLevel } from "../core/compaction/trigger.ts";
import { estimateMessage } from "../core/estimate.ts";
import { type Cost, NO_USAGE } from "../core/usage.ts";
import type { StreamOptions } from "../providers/provider.ts";
import type { ContextConfig } from "../schema/context.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { Usage } from "../schema/message.ts";
import type { Entry, FellBack } from "../schema/record.ts";
import { TextModel } from "./ask-model.ts";
import type { Dependencies } from "./dependencies.ts";
import { memosOf } from "./kept-memos.ts";
import { planByApplication } from "./plan-by-application.ts";
import { type Group, keyOf, summaries } from "./summarise.ts";

/** How far below the trigger a context is brought that the vendor has refused: our count of it was wrong. */
const OVERFLOW_SHARE = 0.5;

export type Planned = {
  readonly sections: readonly Section[];
  /** Why the sections of an application's strategy are not taken: there are none then. */
  readonly refused?: string;
  readonly usage: Usage;
  readonly costUsd: Cost;
  /** Answers of fallbacks; one of each that has given any. */
  readonly fellBack: readonly FellBack[];
};

/** By the strategy that the definition names. */
export async function planCompaction(
  entries: readonly Entry[],
  definition: AgentDefinition,
  { why, view }: Pick<CompactCommand, "why" | "view">,
  dependencies: Pick<Dependencies, "providers" | "secrets" | "outages" | "compactions">,
  signal: AbortSignal,
  onWait?: StreamOptions["onWait"],
): Promise<Planned> {
  const { context } = definition;
  if (context === null) return { sections: [], usage: NO_USAGE, costUsd: 0, fellBack: [] };
  const { strategy, focusMessage, maxSummaryTokens } = context.compaction;
  const level = triggerLevel(context);
  const room = why.type === "overflow" ? Math.floor(level * OVERFLOW_SHARE) : level;
  const budget = Math.max(0, room - memosOf(view).reduce((sum, { memo }) => sum + memo.tokens, 0));
  const focus = (why.type === "asked" ? why.focus : undefined) ?? focusMessage;
  const model = new TextModel(definition, dependencies, onWait);
  const plan = async () => {
    switch (strategy) {
      case "block":
        return { sections: blockPlan(entries, context, budget) };
      case "summary":
        return {
          sections: await planWithNotes(entries, context, { budget, focus }, model, signal),
        };
      default: {
        const asked = { budget, maxTextTokens: maxSummaryTokens, why: why.type, focus };
        return await planByApplication(strategy, entries, asked, model, dependencies, signal);
      }
    }
  };
  const planned = await plan();
  const { usage, costUsd, fellBack } = model;
  return { ...planned, usage, costUsd, fellBack };
}

function blockPlan(
  entries: readonly Entry[],
  { compaction, maxContextTokens }: ContextConfig,
  budget: number,
  summarise?: BlockOptions["summarise"],
): readonly Section[] {
  const options = { maxContextTokens, ...(summarise === undefined ? {} : { summarise }) };
  return planBlock(entries, compaction, budget, options);
}

/** Plans twice: what needs words, and with the words that a model has written. */
async function planWithNotes(
  entries: readonly Entry[],
  context: ContextConfig,
  { budget, focus }: { readonly budget: number; readonly focus: string | undefined },
  model: TextModel,
  signal: AbortSignal,
): Promise<readonly Section[]> {
  const wanted = new Map<string, Group>();
  const long = blockPlan(entries, context, budget, (turns, maxTokens) => {
    wanted.set(keyOf({ turns }), { turns, maxTokens });
    return "x".repeat(Math.max(0, maxTokens * 4 - 64));
  });
  const groups = [...wanted.values()].filter(({ turns }) =>
    long.some(({ from, as }) => isText(as) && from === turns[0]?.entries[0]?.position),
  );
  const texts = await summaries(groups, focus, model, signal);
  return blockPlan(
    entries,
    context,
    budget,
    (turns, maxTokens) => texts.get(keyOf({ turns })) ?? summarise(turns, maxTokens, estimateMessage),
  );
}

export function isText(as: Section["as"]): as is { readonly summary: string } {
  return typeof as === "object" && "summary" in as;
}
