// Positions in a session's conversation, and branches that users create at them.

/** The position after this many entries of a branch. */
export type BranchPosition = {
  readonly branch: string;
  /** The number of entries of the branch before it. */
  readonly position: number;
};

/** A start position: by default the session's head, or the end of the given branch. */
export type BranchPositionInput = {
  readonly branch?: string | undefined;
  readonly position?: number | undefined;
};

export type ForkRequest = {
  readonly session: string;
  readonly atMs: number;
  readonly at: BranchPositionInput;
  /** The name of the new branch; generated if absent. */
  readonly name?: string | undefined;
  /** The id of a new session whose first branch this is; by default the branch belongs to the same session. */
  readonly into?: string | undefined;
};

/** Why a position is invalid. */
export type InvalidPosition =
  | { readonly type: "no-session" }
  | { readonly type: "no-branch"; readonly branch: string; readonly branches: readonly string[] }
  | { readonly type: "no-position"; readonly branch: string; readonly length: number };

export type ForkResult =
  | {
      readonly type: "forked";
      readonly session: string;
      readonly branch: string;
      /** Nothing is copied: the new branch shows the entries of this one before the position. */
      readonly from: BranchPosition & { readonly session: string };
    }
  /** Another branch or session already has the name. */
  | { readonly type: "taken"; readonly kind: "branch" | "session"; readonly name: string }
  | InvalidPosition;

export type RewindRequest = {
  readonly session: string;
  readonly atMs: number;
  readonly to: BranchPositionInput;
  /** Loops that are recorded as running but whose runs have ended. */
  readonly endedLoopIds: readonly string[];
};

export type RewindOutcome =
  | {
      readonly type: "rewound";
      /** The session's head, where the next loop begins. */
      readonly head: BranchPosition;
      readonly before: BranchPosition;
      /** The last loop before the head. */
      readonly loopId?: string | undefined;
    }
  /** Loops of the session are running, so the head cannot move. */
  | { readonly type: "running"; readonly loopIds: readonly string[] }
  | InvalidPosition;

/** Prefixes of the branch names that the transcript generates. */
export const GENERATED_PREFIXES = ["fork-", "loop-", "revert-", "back-"] as const;
