// How sessions begin that no loop has opened yet.

/** A new session of the same agent, which goes on with its definition and knows nothing of its conversation (SES-19). */
export type FollowSessionRequest = {
  readonly id: string;
  readonly previous: string;
  readonly atMs: number;
};

/** The session that words for `session` belong to, when one that was idle for longer is left (SES-13). */
export type RotateSessionRequest = {
  readonly session: string;
  readonly idleMs: number;
  /** The id of the new session, if there must be one. */
  readonly next: string;
  readonly atMs: number;
};

export type RotateSessionResult = { readonly session: string; readonly isNew: boolean };
