import { planBlock } from "../../conversation/compaction/block.ts";
import { isText, type Plan, type PlanOptions, type Section } from "../../conversation/compaction/plan.ts";
import { summarise } from "../../conversation/compaction/summary.ts";
import { targetOf } from "../../conversation/compaction/target.ts";
import { planTiered } from "../../conversation/compaction/tiered.ts";
import { systemPromptOf } from "../../conversation/system-prompt.ts";
import { type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import { contextFor, inputRoom } from "../../core/machine/compaction-trigger.ts";
import type { CompactCommand } from "../../core/machine/state/command.ts";
import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import type { StreamOptions } from "../../models/provider.ts";
import type { ContextConfig } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Usage } from "../../schema/message.ts";
import type { Entry, FellBack } from "../../schema/record.ts";
import { toolDefinition } from "../../tools/tool.ts";
import type { Dependencies } from "../dependencies.ts";
import { TextModel } from "../model/ask-model.ts";
import { toolsAtHand } from "../model/offered-tools.ts";
import { memosOf } from "./kept-memos.ts";
import { planByApplication } from "./plan-by-application.ts";
import { type Group, keyOf, summaries } from "./summarise.ts";

export type Planned = {
  readonly sections: readonly Section[];
  /** Why nothing is made smaller: there are no sections then. */
  readonly refused?: string;
  readonly usage: Usage;
  readonly costUsd: Cost;
  /** Answers of fallbacks; one of each that has given any. */
  readonly fellBack: readonly FellBack[];
};

export type Planning = Pick<
  Dependencies,
  "providers" | "secrets" | "outages" | "compactions" | "tools" | "log"
>;

/** By the strategy that the definition names. */
export async function planCompaction(
  entries: readonly Entry[],
  definition: AgentDefinition,
  asked: Pick<CompactCommand, "why" | "view" | "tokens" | "estimated">,
  dependencies: Planning,
  signal: AbortSignal,
  onWait?: StreamOptions["onWait"],
): Promise<Planned> {
  if (definition.context === null) return { sections: [], usage: NO_USAGE, costUsd: 0, fellBack: [] };
  const { why } = asked;
  const context = contextFor(definition.context, definition);
  const { strategy, focusMessage, maxSummaryTokens } = context.compaction;
  const budget = budgetFor(context, definition, asked, dependencies);
  const focus = (why.type === "asked" ? why.focus : undefined) ?? focusMessage;
  const model = new TextModel(definition, dependencies, onWait);
  const plan = async () => {
    switch (strategy) {
      case "block":
        return planned(blockPlan(entries, context, budget));
      case "tiered":
        return planned(planTiered(entries, context, budget));
      case "summary": {
        const withLines = why.type === "overflow";
        return await planWithNotes(
          entries,
          context,
          { budget, focus, withLines },
          model,
          dependencies,
          signal,
        );
      }
      default: {
        const bounds = { budget, maxTextTokens: maxSummaryTokens, why: why.type, focus };
        return await planByApplication(strategy, entries, bounds, model, dependencies, signal);
      }
    }
  };
  const made = await plan();
  const { usage, costUsd, fellBack } = model;
  return { ...made, usage, costUsd, fellBack };
}

type Made = Pick<Planned, "sections" | "refused">;

function planned(plan: Plan): Made {
  return plan.ok ? { sections: plan.sections } : { sections: [], refused: `${plan.problem}.` };
}

/** Tokens of sections: memos stand beside them. */
function budgetFor(
  context: ContextConfig,
  definition: AgentDefinition,
  { why, view, tokens, estimated = tokens }: Pick<CompactCommand, "why" | "view" | "tokens" | "estimated">,
  { tools }: Pick<Dependencies, "tools">,
): number {
  const offered = toolsAtHand(definition, tools).map(toolDefinition);
  const besides =
    estimateText(systemPromptOf(definition)) +
    (offered.length === 0 ? 0 : estimateText(JSON.stringify(offered)));
  const sent = { estimated, tokens, besides, window: inputRoom(definition) };
  const memos = memosOf(view).reduce((sum, { memo }) => sum + memo.tokens, 0);
  return Math.max(0, targetOf(context, why, sent) - memos);
}

function blockPlan(
  entries: readonly Entry[],
  { compaction, maxContextTokens }: ContextConfig,
  budget: number,
  summarise?: PlanOptions["summarise"],
): Plan {
  const options = { maxContextTokens, ...(summarise === undefined ? {} : { summarise }) };
  return planBlock(entries, compaction, budget, options);
}

type Noting = {
  readonly budget: number;
  readonly focus: string | undefined;
  /** Where notes are not usable, a line a turn takes their place. */
  readonly withLines: boolean;
};

/** Plans twice: what needs words, and with the words that a model has written. */
async function planWithNotes(
  entries: readonly Entry[],
  context: ContextConfig,
  { budget, focus, withLines }: Noting,
  model: TextModel,
  { log }: Pick<Dependencies, "log">,
  signal: AbortSignal,
): Promise<Made> {
  const wanted = new Map<string, Group>();
  const long = blockPlan(entries, context, budget, (turns, maxTokens) => {
    wanted.set(keyOf({ turns }), { turns, maxTokens });
    return "x".repeat(Math.max(0, maxTokens * 4 - 64));
  });
  if (!long.ok) return planned(long);
  const groups = [...wanted.values()].filter(({ turns }) =>
    long.sections.some(
      ({ from, as }) => isText(as) && as.summary.startsWith("x") && from === turns[0]?.entries[0]?.position,
    ),
  );
  const { texts, problem } = await summaries(groups, focus, model, signal);
  if (problem !== undefined) {
    const refused = `The strategy "summary" asked ${model.name} for notes, and they ${problem}: they are not used.`;
    if (!withLines) return { sections: [], refused };
    log.warn({ strategy: "summary" }, refused);
  }
  return planned(
    blockPlan(
      entries,
      context,
      budget,
      (turns, maxTokens) => texts.get(keyOf({ turns })) ?? summarise(turns, maxTokens, estimateMessage),
    ),
  );
}
