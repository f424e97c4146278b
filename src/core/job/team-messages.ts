// What the tools of a lead say to the job: wire names, pinned by tests.

/** An update: `DelegateWords`, answered by `Delegated`. */
export const DELEGATE = "delegate";
/** A query: ids, answered by a `TeamView`. */
export const TEAM = "team";

export type DelegateWords = {
  /** Of the call: one that is made again is the same. */
  readonly id: string;
  readonly agent: string;
  /** SHA-256 of the task, which lies in the transcript. */
  readonly ref: string;
  /** A few words of it. */
  readonly task: string;
};

export type Delegated =
  | { readonly type: "begun"; readonly id: string; readonly session: string }
  | { readonly type: "refused"; readonly reason: string };
