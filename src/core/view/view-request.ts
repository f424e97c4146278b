import type { RevertCategory } from "../../schema/loop-event.ts";
import type { Span, View } from "./view.ts";

// What a call can request of the view. The activity, which has the entries, chooses them; history carries which ones
// they are and what the view becomes. The machine applies the request when the batch ends (LOOP-18, PRUN-08).

/** Tools with which a model changes its view. When the last one is among them, entries have labels. */
export const PRUNE_TOOL = "prun";
export const PRUNE_WITH_MEMO_TOOL = "prun_with_memo";
export const REVERT_TOOL = "revert_to_state";

/** Reads what a compaction has omitted from a message. Offered while a message of the view is cut that way. */
export const READ_FULL_TOOL = "read_full_message";

/** The view from which such a call chooses, after the earlier calls of the same batch. */
export type ToolView = {
  readonly view: View;
  /** The loop's first position. */
  readonly loopFrom: number;
  /** An earlier call of the same batch goes back, so there is nothing more to request. */
  readonly isReverted?: true;
};

export type PositionRange = { readonly from: number; readonly to: number };

export type PruneRequest = {
  readonly type: "prune";
  /** In-run entries of these ranges leave the view; user messages stay. At most `MAX_PRUNED_RANGES`. */
  readonly pruned: readonly PositionRange[];
  readonly tokens: number;
  readonly messages: number;
  /** The estimated tokens of the memo, which is at the first pruned position; its text is the call's argument. */
  readonly memoTokens?: number;
  /** The borders of the view between which the new spans replace the old ones. */
  readonly replacedRange: PositionRange;
  readonly spans: readonly Span[];
};

export type RevertRequest = {
  readonly type: "revert";
  readonly category: RevertCategory;
  /** At most 1 KiB, free of secrets. */
  readonly summary?: string;
} & (
  | {
      readonly applied: true;
      readonly target: number;
      /** Where the new branch begins: after the target and what was left there before. */
      readonly fork: number;
      /** The span in which the new branch begins, in its new form; absent when the branch begins at a border. */
      readonly last?: Span;
    }
  | {
      readonly applied: false;
      readonly target?: number;
      /** At most 256 bytes. */
      readonly reason: string;
    }
);

export type ViewRequest = PruneRequest | RevertRequest;
