// The identity of one execution of a command, and its state in the transcript.

/** One execution of one command of the machine: (Temporal run, command number, call within it). */
export type StepKey = { readonly run: string; readonly number: number; readonly call: number };

export type Step = StepKey & {
  /** The session that the step writes to. */
  readonly session: string;
  /** The workflow of the step, if its id differs from that of the session. */
  readonly workflow?: string | undefined;
  /** The kind of work: `call-model`, `open-loop`, or the tool's name. */
  readonly kind: string;
  /** Increased each time that the machine dispatches the command; older generations must not write. */
  readonly generation: number;
  /** The id of the registered worker process. */
  readonly process: string;
  /** The Temporal activity id, used to fail the activity if the process dies; absent for a local activity. */
  readonly activityId?: string | undefined;
  /** The run is not one of Temporal's: if the process dies, nothing there waits for it. */
  readonly hasNoWorkflow?: true | undefined;
};

/** An earlier execution without a result: its process died, or it was fenced off. */
export type LostExecution = {
  readonly generation: number;
  readonly process: string;
  readonly startedAtMs: number;
  readonly group?: { readonly pgid: number; readonly startTime: string } | undefined;
};

export type ClaimResult =
  /**
   * The caller executes the step. `branch` is where it continues, maybe a fork. `lostExecution` is set if it was started
   * before.
   */
  | {
      readonly type: "claimed";
      readonly branch: string;
      /** How often this step was claimed, including this claim. */
      readonly executions: number;
      /** The newest earlier execution that has not released the step. */
      readonly lostExecution?: LostExecution | undefined;
      /** Still earlier executions that have not released it, oldest first. */
      readonly earlierLostExecutions?: readonly LostExecution[] | undefined;
    }
  /** The step is already done; this is its stored result. */
  | { readonly type: "stored"; readonly branch: string; readonly result: unknown };

export type StepRecord = StepKey & {
  readonly session: string;
  /** The loop that the step belongs to, or that it has opened. */
  readonly loopId?: string | undefined;
  readonly kind: string;
  readonly generation: number;
  readonly executions: number;
  readonly process: string;
  readonly startedAtMs: number;
  readonly storedAtMs?: number | undefined;
  readonly group?: { readonly pgid: number; readonly startTime: string } | undefined;
};
