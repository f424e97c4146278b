import { continueAsNew, proxyActivities } from "@temporalio/workflow";
import type { Activities } from "../activities/activity-types.ts";
import type { RetentionCursor, RetentionDigest } from "../core/machine/retention-digest.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { RetentionPolicy } from "../schema/retention.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { checkRequest } from "./request-shapes.ts";

export type RetentionRequest = {
  readonly policy: RetentionPolicy;
  readonly dryRun?: boolean;
  /** How far an earlier run of the same request has come. */
  readonly cursor?: RetentionCursor;
  readonly done?: RetentionResult;
};

/** What one application of a policy has done. */
export type RetentionResult = {
  /** The number of sessions that were examined. */
  readonly examined: number;
  /** The number of sessions that were deleted; of a dry run, those that would be. */
  readonly deleted: number;
  /** Sessions that match the policy and are still needed: by an open run or job, by a schedule, or by a fork. */
  readonly retained: number;
  /** The number of unused texts that were deleted; 0 for a dry run. */
  readonly texts: number;
  /** The first of the deleted sessions, with the reasons. */
  readonly sessions: readonly {
    readonly session: string;
    /** The rule that matched. */
    readonly reason: string;
  }[];
};

/** Activities of one run, which is a history of about 2,000 events. */
const MAX_PAGES = 300;

/** The most sessions that a result names, so that it stays small. */
const MAX_NAMED = 50;

const EMPTY_RESULT: RetentionResult = { examined: 0, deleted: 0, retained: 0, texts: 0, sessions: [] };

/** Deletes what a policy selects, page by page. */
export async function retention(request: RetentionRequest): Promise<RetentionResult> {
  checkRequest(request, "retention");
  const { policy, dryRun = false } = request;
  let { cursor, done = EMPTY_RESULT } = request;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { "apply-retention": applyRetention } = proxyActivities<Pick<Activities, "apply-retention">>(
      buildWriteOptions(`page ${page + 1}`),
    );
    const digest: RetentionDigest = await applyRetention({
      policy,
      dryRun,
      ...omitUndefined({ cursor }),
    });
    done = {
      examined: done.examined + digest.examined,
      deleted: done.deleted + digest.deleted,
      retained: done.retained + digest.retained,
      texts: done.texts + digest.texts,
      sessions: [...done.sessions, ...digest.sessions].slice(0, MAX_NAMED),
    };
    if (digest.cursor === undefined) return done;
    cursor = digest.cursor;
  }
  return await continueAsNew<typeof retention>({
    policy,
    dryRun,
    ...omitUndefined({ cursor }),
    done,
  });
}
