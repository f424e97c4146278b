// Places of a session's conversation, and what is begun at them by a person's wish.

/** Behind this many entries of a branch. */
export type BranchPosition = { readonly branch: string; readonly position: number };

/** Where something is to begin: the session's head unless a branch is said, its end unless a position is. */
export type BranchPositionInput = {
  readonly branch?: string | undefined;
  readonly position?: number | undefined;
};

export type ForkRequest = {
  readonly session: string;
  readonly atMs: number;
  readonly at: BranchPositionInput;
  /** Of the new branch; one is made up when absent. */
  readonly name?: string | undefined;
  /** The branch is the first one of this new session; else it is one more of the same. */
  readonly into?: string | undefined;
};

/** Why a place cannot be used. */
export type InvalidPosition =
  | { readonly type: "no-session" }
  | { readonly type: "no-branch"; readonly branch: string; readonly branches: readonly string[] }
  | { readonly type: "no-position"; readonly branch: string; readonly length: number };

export type ForkResult =
  | {
      readonly type: "forked";
      readonly session: string;
      readonly branch: string;
      /** Nothing is copied: the new branch shows what this one has before the position. */
      readonly from: BranchPosition & { readonly session: string };
    }
  /** Another branch, or another session, has that name already. */
  | { readonly type: "taken"; readonly what: "branch" | "session"; readonly name: string }
  | InvalidPosition;

export type RewindRequest = {
  readonly session: string;
  readonly atMs: number;
  readonly to: BranchPositionInput;
  /** Loops that count as running, and whose runs are known to be over. */
  readonly over: readonly string[];
};

export type RewindOutcome =
  | {
      readonly type: "rewound";
      /** The session's head: the next loop begins there. */
      readonly head: BranchPosition;
      readonly before: BranchPosition;
      /** The last loop before the head. */
      readonly loopId?: string | undefined;
    }
  /** Loops of the session are at work: the head is theirs. */
  | { readonly type: "running"; readonly loopIds: readonly string[] }
  | InvalidPosition;

/** What the names of branches begin with that the transcript gives by itself. */
export const GENERATED_PREFIXES = ["fork-", "loop-", "revert-", "back-"] as const;
