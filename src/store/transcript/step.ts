// What one execution of a command is known by, and what the transcript says of it.

/** One execution of one command of the machine: (Temporal run, command number, call within it). */
export type StepKey = { readonly run: string; readonly number: number; readonly call: number };

export type Step = StepKey & {
  /** What it is written to. */
  readonly session: string;
  /** The workflow that asks for it, where that has another id than the session. */
  readonly workflow?: string | undefined;
  /** What is done: `model`, `open-loop`, or the tool's name. */
  readonly kind: string;
  /** Given by the machine each time that it issues the command; older ones may not write. */
  readonly generation: number;
  /** The worker process, as it signed in. */
  readonly process: string;
  /** The Temporal activity id, to fail it by when the process is gone; absent for a local activity. */
  readonly activityId?: string | undefined;
};

/** An earlier execution that left no result: its process died, or it was fenced off. */
export type LostExecution = {
  readonly generation: number;
  readonly process: string;
  readonly startedAtMs: number;
  readonly group?: { readonly pgid: number; readonly startTime: string } | undefined;
};

export type ClaimResult =
  /** Ours to execute. `branch` is where it goes on, after a fork perhaps. `lost` when somebody had begun before. */
  | {
      readonly type: "claimed";
      readonly branch: string;
      /** How often this step was claimed, this time included. */
      readonly executions: number;
      /** The newest earlier execution that has not given the step back. */
      readonly lost?: LostExecution | undefined;
      /** Those before it that have not done so either, oldest first. */
      readonly lostBefore?: readonly LostExecution[] | undefined;
    }
  /** Done before: the result that was stored then. */
  | { readonly type: "stored"; readonly branch: string; readonly result: unknown };

export type StepRecord = StepKey & {
  readonly session: string;
  /** The loop that it belongs to, or has opened. */
  readonly loopId?: string | undefined;
  readonly kind: string;
  readonly generation: number;
  readonly executions: number;
  readonly process: string;
  readonly startedAtMs: number;
  readonly storedAtMs?: number | undefined;
  readonly group?: { readonly pgid: number; readonly startTime: string } | undefined;
};
