import type { RetentionPolicy } from "../../schema/retention.ts";
import type { RuleCounts } from "./retention.ts";

// What crosses history when a retention policy is applied.

/** Where the next page begins, and what was counted before it. */
export type RetentionCursor = {
  readonly behind?: { readonly lastActiveAtMs: number; readonly id: string };
  readonly counted: RuleCounts;
};

export type RetentionInput = {
  readonly policy: RetentionPolicy;
  readonly dryRun: boolean;
  readonly cursor?: RetentionCursor;
};

export type RetentionDigest = {
  readonly looked: number;
  readonly deleted: number;
  readonly spared: number;
  readonly texts: number;
  readonly sessions: readonly { readonly session: string; readonly why: string }[];
  /** Absent: all sessions were examined. */
  readonly cursor?: RetentionCursor;
};
