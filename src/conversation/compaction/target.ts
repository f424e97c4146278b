import { computeTriggerLevel } from "../../core/machine/compaction-trigger.ts";
import type { CompactionReason } from "../../core/machine/state/state.ts";
import type { ContextConfig } from "../../schema/context.ts";
import { parseOverflowSize } from "../overflow-size.ts";

// How small a view must become (docs/loop.md, rules 6 and 7).

/** Our count of a context that was refused was wrong by more than nothing. */
const OVERFLOW_MARGIN = 0.9;

export type SentContext = {
  /** The estimate of the view. */
  readonly estimated: number;
  /** The same with what the vendor has counted of it last. */
  readonly tokens: number;
  /** The estimate of system prompt and tools. */
  readonly besides: number;
  /** Tokens that the model takes, less those of the longest answer that is asked for. */
  readonly window: number;
};

/**
 * The most tokens that the new view may have, by our estimate.
 *
 * Of a context that has grown, or of which a person asks it: the level of the trigger. Of one that was refused: what the
 * vendor has said that it takes; else what the model's window takes; and where that is not less than what was sent, half
 * of it. It is always less than what was refused.
 */
export function computeTarget(context: ContextConfig, reason: CompactionReason, sent: SentContext): number {
  const level = Math.floor(computeTriggerLevel(context) * computeEstimateRatio(sent));
  if (reason.type !== "overflow") return level;
  const { estimated, besides, window } = sent;
  const vendorSize = parseOverflowSize(reason.said);
  const fits =
    vendorSize === undefined
      ? window * computeEstimateRatio(sent)
      : (vendorSize.limit * (estimated + besides)) / vendorSize.asked;
  const target = Math.min(level, Math.floor(fits * OVERFLOW_MARGIN) - besides);
  return target > 0 && target < estimated ? target : Math.floor(estimated / 2);
}

/** Less than 1 where the vendor has counted more tokens than we estimate. */
function computeEstimateRatio({ estimated, tokens, besides }: SentContext): number {
  const counted = tokens - besides;
  return counted > estimated && counted > 0 ? estimated / counted : 1;
}
