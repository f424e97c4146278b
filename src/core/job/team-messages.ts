// What the tools of a lead say to the job: wire names, pinned by tests.

/** An update: `DelegateRequest`, answered by `Delegated`. */
export const DELEGATE_UPDATE = "delegate";
/** A query: ids, answered by a `TeamView`. */
export const TEAM_QUERY = "team";

export type DelegateRequest = {
  /** Of the call: one that is made again is the same. */
  readonly id: string;
  readonly agent: string;
  /** SHA-256 of the task, which lies in the transcript. */
  readonly ref: string;
  /** A few words of it. */
  readonly task: string;
};

export type DelegateResult =
  | { readonly type: "begun"; readonly id: string; readonly session: string }
  | { readonly type: "refused"; readonly reason: string };
