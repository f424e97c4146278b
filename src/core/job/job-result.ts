import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import { toUsd } from "../budget/amounts.ts";
import type { Cost } from "../budget/usage.ts";
import { getSpentByJob, type JobMode, type JobPart, type JobState } from "./job.ts";

/** The result of a part. Its text stays in its session, in the entry at `position`. */
export type PartResult = Pick<JobPart, "name" | "agent" | "session" | "outcome"> &
  Partial<NonNullable<JobPart["report"]>> & {
    readonly turns: number;
    readonly costUsd: Cost;
  };

/** The result of a job. */
export type JobResult = {
  readonly job: string;
  readonly mode: JobMode;
  readonly outcome: Outcome;
  /** The part at which it ended, when it did not complete. */
  readonly endedAt?: string;
  /** At most 32 KiB; complete in the transcript, under the hash `ref`. */
  readonly text?: string;
  readonly ref?: string;
  readonly bytes?: number;
  readonly parts: readonly PartResult[];
  /** The rounds of an autonomous agent. */
  readonly rounds?: number;
  readonly turns: number;
  readonly tokens: number;
  readonly costUsd: Cost;
};

export type JobResultDetails = Pick<JobResult, "endedAt" | "text" | "ref" | "bytes" | "rounds">;

export function buildJobResult(state: JobState, outcome: Outcome, more: JobResultDetails = {}): JobResult {
  const { turns, tokens, nanoUsd } = getSpentByJob(state);
  return {
    job: state.job,
    mode: state.mode,
    outcome,
    ...more,
    parts: state.parts.map(buildPartResult),
    turns,
    tokens,
    costUsd: toUsd(nanoUsd),
  };
}

export function buildPartResult({ name, agent, session, outcome, report, spent }: JobPart): PartResult {
  return {
    name,
    agent,
    session,
    ...omitUndefined({ outcome }),
    ...report,
    turns: spent.turns,
    costUsd: toUsd(spent.nanoUsd),
  };
}

/** Returns the same outcome, with the name of the part in which it happened. */
export function locateOutcome(partName: string, outcome: Outcome): Outcome {
  switch (outcome.type) {
    case "failed":
      return { ...outcome, message: `${partName}: ${outcome.message}` };
    case "limit-reached":
    case "stopped":
    case "rejected":
    case "ended":
    case "paused":
    case "handoff":
      return { ...outcome, reason: `${partName}: ${outcome.reason}` };
    case "answered":
    case "delivered":
      return outcome;
  }
}
