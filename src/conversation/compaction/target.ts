import { computeTriggerLevel } from "../../core/machine/compaction-trigger.ts";
import type { CompactionReason } from "../../core/machine/state/compaction.ts";
import type { ContextConfig } from "../../schema/context.ts";
import { parseOverflowSize } from "../overflow-size.ts";

// How small a view must become (docs/loop.md, rules 6 and 7).

/** A rejected context shows that our count was too low, so the target is this part of it. */
const OVERFLOW_MARGIN = 0.9;

export type SentContext = {
  /** The estimate of the view. */
  readonly estimated: number;
  /** The same, using the vendor's last count. */
  readonly reportedTokens: number;
  /** The estimate of system prompt and tools. */
  readonly overheadTokens: number;
  /** The tokens that the model takes, less those of the longest answer that is requested. */
  readonly window: number;
};

/**
 * Computes the most tokens that the new view may have, by our estimate.
 *
 * For a context that has grown, or a user's request: the trigger level. For a rejected context: the size that the vendor
 * accepts if it has reported one, otherwise what the model's window takes; and if that is not less than what was sent,
 * half of it. The result is always less than what was rejected.
 */
export function computeTarget(context: ContextConfig, reason: CompactionReason, sent: SentContext): number {
  const level = Math.floor(computeTriggerLevel(context) * computeEstimateRatio(sent));
  if (reason.type !== "overflow") return level;
  const { estimated, overheadTokens, window } = sent;
  const vendorSize = parseOverflowSize(reason.said);
  const fits =
    vendorSize === undefined
      ? window * computeEstimateRatio(sent)
      : (vendorSize.limit * (estimated + overheadTokens)) / vendorSize.requested;
  const target = Math.min(level, Math.floor(fits * OVERFLOW_MARGIN) - overheadTokens);
  return target > 0 && target < estimated ? target : Math.floor(estimated / 2);
}

/** Computes the ratio of our estimate to the vendor's count: less than 1 when the vendor has counted more tokens. */
function computeEstimateRatio({ estimated, reportedTokens, overheadTokens }: SentContext): number {
  const counted = reportedTokens - overheadTokens;
  return counted > estimated && counted > 0 ? estimated / counted : 1;
}
