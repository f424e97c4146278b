import type { StepKey } from "./step.ts";

/** A registered worker process. */
export type WorkerProcess = {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
  readonly namespace: string;
  readonly taskQueue: string;
};

/** The unfinished work of a dead process. */
export type DeadProcessWork = {
  /** Activities that it claimed but never completed, without local activities. */
  readonly activities: readonly (StepKey & {
    readonly workflow: string;
    readonly activityId: string;
    /** How often the step was claimed. */
    readonly executions: number;
  })[];
  /** Open runs that it worked on, and their callers: their sticky queue may be that of the process. */
  readonly runs: readonly { readonly workflow: string; readonly run: string }[];
};
