import { apply } from "../../../core/machine/apply.ts";
import { next } from "../../../core/machine/next.ts";
import { buildInitialState, type StartInput } from "../../../core/machine/start.ts";
import type { Command } from "../../../core/machine/state/command.ts";
import type { RunEvent } from "../../../core/machine/state/run-event.ts";
import type { State } from "../../../core/machine/state/state.ts";

/** An event without its time, which the machine's clock adds. */
export type Happening = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "atMs">
    : never
  : never;

/** The machine of successive runs, and the clock of the session. */
export class Machine {
  #state: State | undefined;
  #nowMs = 0;
  #runs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  get state(): State {
    if (this.#state === undefined) throw new Error("No run has begun");
    return this.#state;
  }

  get isStopped(): boolean {
    return this.state.stop !== undefined;
  }

  /** Sets the clock. */
  constructor(nowMs = 0) {
    this.#nowMs = nowMs;
  }

  /** The id of the Temporal run, which changes with continue-as-new. */
  get run(): string {
    return `run${this.#runs}`;
  }

  begin(input: Omit<StartInput, "nowMs">): void {
    this.#runs += 1;
    this.#state = buildInitialState({ ...input, nowMs: this.#nowMs });
  }

  next(): Command {
    return next(this.state);
  }

  tell(happening: Happening): void {
    this.#nowMs += 1;
    this.#state = apply(this.state, { ...happening, atMs: this.#nowMs } as RunEvent);
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  passUntil(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }

  /** Continues as new: passes the state through JSON, as between two runs. */
  rotate(): void {
    this.readBack();
    this.#runs += 1;
    this.tell({ type: "started" });
  }

  /** Passes the state through JSON. */
  readBack(json = JSON.stringify(this.state)): void {
    this.#state = JSON.parse(json) as State;
  }
}
