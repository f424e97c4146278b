import type { RetentionPolicy } from "../../schema/retention.ts";
import type { RuleCounts } from "./retention.ts";

// What crosses history when a retention policy is applied.

/** Where the next page begins, and what was counted before it. */
export type RetentionCursor = {
  readonly after?: { readonly lastActiveAtMs: number; readonly id: string };
  readonly counted: RuleCounts;
};

export type RetentionInput = {
  readonly policy: RetentionPolicy;
  readonly dryRun: boolean;
  readonly cursor?: RetentionCursor;
};

export type RetentionDigest = {
  readonly examined: number;
  readonly deleted: number;
  readonly retained: number;
  readonly texts: number;
  readonly sessions: readonly { readonly session: string; readonly reason: string }[];
  /** Absent: all sessions were examined. */
  readonly cursor?: RetentionCursor;
};
