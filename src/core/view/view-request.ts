import type { RevertCategory } from "../../schema/record.ts";
import type { Span, View } from "./view.ts";

// What a call may want of the view. The entries are chosen where they are, in the activity; what crosses history is
// which ones, and what the view is to be. The machine does it when the batch is over (LOOP-18, PRUN-08).

/** Tools by which a model changes its view. With the last one among them, entries have labels. */
export const PRUNE_TOOL = "prun";
export const PRUNE_WITH_MEMO_TOOL = "prun_with_memo";
export const REVERT_TOOL = "revert_to_state";

/** Reads what a compaction has left out of a message; offered while a message of the view is cut that way. */
export const READ_FULL_TOOL = "read_full_message";

/** What such a call is given to choose from: the view, as the calls before it in the same batch have left it. */
export type ToolView = {
  readonly view: View;
  /** The loop's first position. */
  readonly loopFrom: number;
  /** A call before it in the same batch goes back: there is nothing more to ask for. */
  readonly reverted?: true;
};

export type PositionRange = { readonly from: number; readonly to: number };

export type PruneRequest = {
  readonly type: "prune";
  /** In-run entries of these leave; words of the user's side stay. At most `MAX_PRUNED_RANGES`. */
  readonly pruned: readonly PositionRange[];
  readonly tokens: number;
  readonly messages: number;
  /** Stands at the first of the pruned positions; its words are the call's argument. */
  readonly memoTokens?: number;
  /** What stands between two borders of the view's spans from now on. */
  readonly between: PositionRange;
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
      /** Where the new branch begins: behind the target and what was left there before. */
      readonly fork: number;
      /** The span that the new branch begins in, as it is then; absent when it begins at a border. */
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
