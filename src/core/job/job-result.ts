import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import { toUsd } from "../budget/amounts.ts";
import type { Cost } from "../budget/usage.ts";
import { getSpentByJob, type JobMode, type JobPart, type JobState } from "./job.ts";

/** The result of a part. Its text stays in its session, in the entry at `position`. */
export type PartResult = {
  /** Unique in the job. */
  readonly name: string;
  /** The name of its agent. */
  readonly agent: string;
  /** The session with its conversation. */
  readonly session: string;
  /** The outcome of its newest run; absent if it never began. */
  readonly outcome?: Outcome;
  /** The branch with its answer. */
  readonly branch?: string;
  /** The loop that gave the answer. */
  readonly loopId?: string;
  /** The position of the answer on the branch. */
  readonly position?: number;
  /** The number of turns of the part's run. */
  readonly turns: number;
  readonly costUsd: Cost;
};

/** The result of a job. */
export type JobResult = {
  /** The id of the job. */
  readonly job: string;
  /** How its agents worked together. */
  readonly mode: JobMode;
  readonly outcome: Outcome;
  /** The part at which it ended, when it did not complete. */
  readonly endedAt?: string;
  /** At most 32 KiB; complete in the transcript, under the hash `ref`. */
  readonly text?: string;
  /** The hash of the whole text in the transcript. */
  readonly ref?: string;
  /** The UTF-8 size of the whole text. */
  readonly bytes?: number;
  /** The parts, in their order. */
  readonly parts: readonly PartResult[];
  /** The rounds of an autonomous agent. */
  readonly rounds?: number;
  /** The turns of all parts together. */
  readonly turns: number;
  /** The tokens of all parts together, input and output. */
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
