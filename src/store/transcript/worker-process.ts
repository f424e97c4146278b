import type { StepKey } from "./step.ts";

/** A worker process, as it signed itself in. */
export type WorkerProcess = {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
  readonly namespace: string;
  readonly taskQueue: string;
};

/** What a process that is gone has left behind. */
export type DeadProcessWork = {
  /** Activities that it had claimed and never answered. Local ones are not among them. */
  readonly activities: readonly (StepKey & {
    readonly workflow: string;
    readonly activityId: string;
    /** How often the step was claimed. */
    readonly executions: number;
  })[];
  /** Runs that it worked on, and those that have called them, unless they have closed: their sticky queue may be its own. */
  readonly runs: readonly { readonly workflow: string; readonly run: string }[];
};
