/**
 * A loop as one of several that an evaluation runs side by side in a session: on a branch of its own, under a number
 * that is reserved for it. The session's head, its inbox and its siblings are not its business.
 */
export type LoopPart = {
  readonly evaluation: string;
  readonly number: number;
  /** Behind this many entries of a branch: what it knows of the session. */
  readonly at: { readonly branch: string; readonly position: number };
  /** The session's last loop when the evaluation began. */
  readonly parentLoopId?: string | undefined;
};
