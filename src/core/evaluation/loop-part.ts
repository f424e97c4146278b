/**
 * A loop that an evaluation runs side by side with others in a session, on a branch of its own and under a number that
 * is reserved for it. It does not touch the session's head, its inbox or the other loops.
 */
export type LoopPart = {
  readonly evaluation: string;
  readonly number: number;
  /** After this many entries of a branch: what it knows of the session. */
  readonly at: { readonly branch: string; readonly position: number };
  /** The session's last loop when the evaluation began. */
  readonly parentLoopId?: string | undefined;
};
