import { planBlock } from "../../conversation/compaction/block-plan.ts";
import { isText, type Plan, type PlanOptions, type Section } from "../../conversation/compaction/plan.ts";
import { computeTarget } from "../../conversation/compaction/target.ts";
import { planTiered } from "../../conversation/compaction/tiered-plan.ts";
import { summarise } from "../../conversation/compaction/turn-summary.ts";
import { buildSystemPrompt } from "../../conversation/system-prompt.ts";
import { type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import { buildContextConfig, computeInputRoom } from "../../core/machine/compaction-trigger.ts";
import type { CompactCommand } from "../../core/machine/state/activity-command.ts";
import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import type { StreamOptions } from "../../models/provider.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ContextConfig } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { ModelFallback } from "../../schema/loop-event.ts";
import type { Usage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { toToolDefinition } from "../../tools/tool.ts";
import type { Dependencies } from "../dependencies.ts";
import { getAvailableTools } from "../model/available-tools.ts";
import { TextModel } from "../model/text-model.ts";
import { askCustomCompaction } from "./custom-compaction.ts";
import { listMemos } from "./retain-memos.ts";
import { buildGroupKey, type Group, summariseGroups } from "./summarise.ts";

export type PlannedCompaction = {
  readonly sections: readonly Section[];
  /** Why nothing is made smaller; there are no sections then. */
  readonly rejected?: string;
  readonly usage: Usage;
  readonly costUsd: Cost;
  /** The fallbacks that answered, each once. */
  readonly fallbacks: readonly ModelFallback[];
};

export type PlanDependencies = Pick<
  Dependencies,
  "providers" | "secrets" | "outages" | "compactions" | "tools" | "log"
>;

/** Plans the sections with the strategy that the definition names. */
export async function planCompaction(
  entries: readonly Entry[],
  definition: AgentDefinition,
  asked: Pick<CompactCommand, "reason" | "view" | "contextTokens" | "viewTokens">,
  dependencies: PlanDependencies,
  signal: AbortSignal,
  onWait?: StreamOptions["onWait"],
): Promise<PlannedCompaction> {
  if (definition.context === null) return { sections: [], usage: NO_USAGE, costUsd: 0, fallbacks: [] };
  const { reason } = asked;
  const context = buildContextConfig(definition.context, definition);
  const { strategy, focusMessage, maxSummaryTokens } = context.compaction;
  const budget = computeBudget(context, definition, asked, dependencies);
  const focus = (reason.type === "request" ? reason.focus : undefined) ?? focusMessage;
  const model = new TextModel(definition, dependencies, onWait);
  const plan = async () => {
    switch (strategy) {
      case "block":
        return toPlannedSections(buildBlockPlan(entries, context, budget));
      case "tiered":
        return toPlannedSections(planTiered(entries, context, budget));
      case "summary": {
        const fallsBackToLines = reason.type === "overflow";
        return await planWithNotes(
          entries,
          context,
          { budget, focus, fallsBackToLines },
          model,
          dependencies,
          signal,
        );
      }
      default: {
        const bounds = { budget, maxTextTokens: maxSummaryTokens, reason: reason.type, focus };
        return await askCustomCompaction(strategy, entries, bounds, model, dependencies, signal);
      }
    }
  };
  const made = await plan();
  const { usage, costUsd, fallbacks } = model;
  return { ...made, usage, costUsd, fallbacks };
}

type PlannedSections = Pick<PlannedCompaction, "sections" | "rejected">;

function toPlannedSections(plan: Plan): PlannedSections {
  return plan.ok ? { sections: plan.sections } : { sections: [], rejected: `${plan.problem}.` };
}

/** Computes the tokens for the sections, because memos stay in addition to them. */
function computeBudget(
  context: ContextConfig,
  definition: AgentDefinition,
  {
    reason,
    view,
    contextTokens,
    viewTokens = contextTokens,
  }: Pick<CompactCommand, "reason" | "view" | "contextTokens" | "viewTokens">,
  { tools }: Pick<Dependencies, "tools">,
): number {
  const offered = getAvailableTools(definition, tools).map(toToolDefinition);
  const besides =
    estimateText(buildSystemPrompt(definition)) +
    (offered.length === 0 ? 0 : estimateText(JSON.stringify(offered)));
  const sent = {
    estimated: viewTokens,
    reportedTokens: contextTokens,
    overheadTokens: besides,
    window: computeInputRoom(definition),
  };
  const memos = listMemos(view).reduce((sum, { memo }) => sum + memo.tokens, 0);
  return Math.max(0, computeTarget(context, reason, sent) - memos);
}

function buildBlockPlan(
  entries: readonly Entry[],
  { compaction, maxContextTokens }: ContextConfig,
  budget: number,
  summarise?: PlanOptions["summarise"],
): Plan {
  const options = { maxContextTokens, ...omitUndefined({ summarise }) };
  return planBlock(entries, compaction, budget, options);
}

type NotesOptions = {
  readonly budget: number;
  readonly focus: string | undefined;
  /** One line for each turn replaces notes that are not usable. */
  readonly fallsBackToLines: boolean;
};

/** Plans twice: first to find which sections need a text, then with the texts that a model has written. */
async function planWithNotes(
  entries: readonly Entry[],
  context: ContextConfig,
  { budget, focus, fallsBackToLines }: NotesOptions,
  model: TextModel,
  { log }: Pick<Dependencies, "log">,
  signal: AbortSignal,
): Promise<PlannedSections> {
  const wanted = new Map<string, Group>();
  const long = buildBlockPlan(entries, context, budget, (turns, maxTokens) => {
    wanted.set(buildGroupKey({ turns }), { turns, maxTokens });
    return "x".repeat(Math.max(0, maxTokens * 4 - 64));
  });
  if (!long.ok) return toPlannedSections(long);
  const groups = [...wanted.values()].filter(({ turns }) =>
    long.sections.some(
      ({ from, form }) =>
        isText(form) && form.summary.startsWith("x") && from === turns[0]?.entries[0]?.position,
    ),
  );
  const { texts, problem } = await summariseGroups(groups, focus, model, signal);
  if (problem !== undefined) {
    const refused = `The notes that ${model.name} wrote for the strategy "summary" ${problem}: they are not used.`;
    if (!fallsBackToLines) return { sections: [], rejected: refused };
    log.warn({ strategy: "summary" }, refused);
  }
  return toPlannedSections(
    buildBlockPlan(
      entries,
      context,
      budget,
      (turns, maxTokens) =>
        texts.get(buildGroupKey({ turns })) ?? summarise(turns, maxTokens, estimateMessage),
    ),
  );
}
