// Requests that create sessions before their first loop.

/** A new session of the same agent, with its definition but without its conversation (SES-19). */
export type FollowSessionRequest = {
  readonly id: string;
  readonly previous: string;
  readonly atMs: number;
};

/** Requests the session for messages to `session`: a session that was idle for longer is replaced by a new one (SES-13). */
export type RotateSessionRequest = {
  readonly session: string;
  readonly idleMs: number;
  /** The id of the new session, if one is necessary. */
  readonly nextId: string;
  readonly atMs: number;
};

export type RotateSessionResult = { readonly session: string; readonly isNew: boolean };
