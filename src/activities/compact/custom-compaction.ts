import { CancelledFailure } from "@temporalio/activity";
import { z } from "zod";
import {
  checkPlan,
  type PlanBounds,
  selectPlannableEntries,
} from "../../conversation/compaction/custom-plan.ts";
import type { Section } from "../../conversation/compaction/plan.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import type { CompactionRequest } from "../../hooks/compaction-strategy.ts";
import { askWithTimeout } from "../../hooks/time-limit.ts";
import { ProviderError } from "../../models/provider-error.ts";
import type { Entry } from "../../schema/record.ts";
import type { Dependencies } from "../dependencies.ts";
import { boundText } from "../filter-input/ask-filters.ts";
import type { TextModel } from "../model/text-model.ts";
import { checkNames } from "../step/check-names.ts";

/** The limit for everything that a strategy does, including answers of a model. */
const STRATEGY_TIMEOUT_MS = 5 * 60_000;

const position = z.number().int().nonnegative();
const RequestedSections = z.array(
  z.object({
    from: position,
    to: position,
    form: z.union([
      z.literal("whole"),
      z.strictObject({ maxLines: z.number().int().nonnegative() }),
      z.strictObject({ summary: z.string() }),
    ]),
  }),
);

/**
 * The sections that a registered strategy returns, or the reason why they are rejected: at most 512 bytes, without
 * secrets.
 */
export type CustomPlan = { readonly sections: readonly Section[]; readonly rejected?: string };

/** Calls a registered strategy. A vendor's error is passed on, so that the vendor is called again as for an answer. */
export async function askCustomCompaction(
  name: string,
  entries: readonly Entry[],
  { budget, maxTextTokens, ...asked }: PlanBounds & Pick<CompactionRequest, "reason" | "focus">,
  model: TextModel,
  { compactions }: Pick<Dependencies, "compactions">,
  signal: AbortSignal,
): Promise<CustomPlan> {
  checkNames(compactions.label, [name], compactions.names);
  const strategy = compactions.get(name);
  const given = selectPlannableEntries(entries);
  let vendors: ProviderError | undefined;
  const ask = (within: AbortSignal): CompactionRequest["ask"] => {
    return async ({ instructions, text, maxTokens = maxTextTokens }) => {
      try {
        return await model.ask({ instructions, text, maxTokens }, within);
      } catch (error) {
        if (error instanceof ProviderError) vendors = error;
        throw error;
      }
    };
  };
  const answer = await askWithTimeout<unknown>(
    (within) =>
      strategy?.({
        ...asked,
        entries: structuredClone(given),
        budget,
        maxTextTokens,
        count: estimateMessage,
        ask: ask(within),
        signal: within,
      }),
    { signal, timeoutMs: STRATEGY_TIMEOUT_MS },
  );
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  const refuse = (reason: string) => ({
    sections: [],
    rejected: boundText(`The compaction strategy "${name}" ${reason}`),
  });
  if (answer.type === "failed") {
    if (answer.fault === "threw" && vendors !== undefined) throw vendors;
    return refuse(`failed: ${answer.message}`);
  }
  const wanted = RequestedSections.safeParse(answer.value);
  if (!wanted.success) {
    const [issue] = wanted.error.issues;
    return refuse(`returned no list of sections: ${issue?.path.join(".")} ${issue?.message}`);
  }
  const checked = checkPlan(wanted.data, given, { budget, maxTextTokens });
  return checked.ok ? { sections: checked.sections } : refuse(checked.problem);
}
