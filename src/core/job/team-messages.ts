// The messages from the tools of a lead to the job: wire names, pinned by tests.

/** An update: `DelegateRequest`, answered by a `DelegateResult`. */
export const DELEGATE_UPDATE = "delegate";
/** A query: ids, answered by a `TeamView`. */
export const TEAM_QUERY = "team";

export type DelegateRequest = {
  /** The id of the call: a repeated call has the same id. */
  readonly id: string;
  readonly agent: string;
  /** The SHA-256 of the task, which is in the transcript. */
  readonly ref: string;
  /** The beginning of the task. */
  readonly task: string;
};

export type DelegateResult =
  | { readonly type: "started"; readonly id: string; readonly session: string }
  | { readonly type: "denied"; readonly reason: string };
