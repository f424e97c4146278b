import type { Step } from "../../src/store/transcript/step.ts";
import type { NewEntry, NewEvent, Outbox, StoreWrite } from "../../src/store/transcript/store-write.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { EMPTY_OUTBOX, entry, event, step } from "./sample-writes.ts";

type UnitPlan = { readonly calls: number; readonly steered: boolean };
type RunParameters = {
  readonly session: string;
  readonly loopId: string;
  readonly plan: readonly UnitPlan[];
};
type ClaimedWrite = { readonly step: Step; readonly write: StoreWrite };

/** The current batch of calls. A call is done once the machine knows its result. */
type CallUnit = {
  readonly base: number;
  readonly outbox: Outbox;
  readonly texts: string[];
  readonly done: Map<number, string>;
  readonly generations: Map<number, number>;
};

/** Simulates what the machine of one Temporal run does to a transcript: one batch of calls after another. */
export class SimulatedRun {
  readonly transcript: Transcript;
  /** The texts of the conversation and of the events, as this run knows them. */
  readonly history: string[];
  readonly events: string[];
  branch: string;
  lastStored: ClaimedWrite | undefined;
  lastClaimed: ClaimedWrite | undefined;
  readonly #parameters: RunParameters;
  readonly #run: string;
  #number: number;
  #unit: CallUnit;

  private constructor(
    transcript: Transcript,
    fixed: RunParameters,
    run: string,
    state: { history: string[]; events: string[]; branch: string; number: number; unit?: CallUnit },
  ) {
    this.transcript = transcript;
    this.#parameters = fixed;
    this.#run = run;
    this.history = state.history;
    this.events = state.events;
    this.branch = state.branch;
    this.#number = state.number;
    this.#unit = state.unit ?? this.#createNextUnit();
  }

  static create(
    transcript: Transcript,
    of: RunParameters & { run: string; history: string[] },
  ): SimulatedRun {
    return new SimulatedRun(transcript, of, of.run, {
      history: [...of.history],
      events: [],
      branch: "main",
      number: 1,
    });
  }

  /** False in a batch that has already forked: the store cannot recognize a reset in the middle of it. */
  get isResettable(): boolean {
    return [...this.#unit.done.values()].every((branch) => branch === this.branch);
  }

  /** Returns a run that knows what this one knows, and repeats the calls that are not done. */
  reset(run: string): SimulatedRun {
    const unit = this.#unit;
    const writtenEvents = this.events.length - unit.outbox.events.length;
    const outboxTold = unit.done.has(0);
    const texts = unit.texts.map((text, completeCall) =>
      unit.done.has(completeCall) ? text : `${text} by ${run}`,
    );
    const outbox = outboxTold
      ? unit.outbox
      : {
          entries: unit.outbox.entries.map(({ position }) =>
            entry(position, `steered ${position} by ${run}`),
          ),
          events: unit.outbox.events.map(({ sequence }) => event(sequence, `event ${sequence} by ${run}`)),
        };
    return new SimulatedRun(this.transcript, this.#parameters, run, {
      history: [...this.history],
      events: outboxTold
        ? [...this.events]
        : [...this.events.slice(0, writtenEvents), ...outbox.events.map(getEventText)],
      branch: this.branch,
      number: this.#number,
      unit: { base: unit.base, outbox, texts, done: new Map(unit.done), generations: new Map() },
    });
  }

  /** Executes one of the open calls: claims it and, unless the worker dies in between, stores its result. */
  async completeCall(which: number, crash: boolean): Promise<void> {
    const unit = this.#unit;
    const open = unit.texts
      .map((_, completeCall) => completeCall)
      .filter((completeCall) => !unit.done.has(completeCall));
    const completeCall = open[which % open.length]!;
    const generation = (unit.generations.get(completeCall) ?? 0) + 1;
    unit.generations.set(completeCall, generation);
    const key = step({
      session: this.#parameters.session,
      run: this.#run,
      number: this.#number,
      call: completeCall,
      generation,
      process: `p${generation}`,
    });
    const target = { loopId: this.#parameters.loopId, branch: this.branch, base: unit.base };
    const write: StoreWrite = {
      ...target,
      step: key,
      atMs: 1,
      outbox: EMPTY_OUTBOX,
      entries: [this.#createResultEntry(unit, completeCall)],
      result: `${this.#run} ${this.#number} ${completeCall}`,
    };
    this.lastClaimed = { step: key, write };
    await this.transcript.claim(key, target, completeCall === 0 ? unit.outbox : EMPTY_OUTBOX, 1);
    if (crash) return;
    this.lastClaimed = undefined;
    const stored = await this.transcript.store(write);
    this.lastStored = { step: key, write };
    unit.done.set(completeCall, stored.branch);
    if (unit.done.size === unit.texts.length) this.#unit = this.#createNextUnit(unit);
  }

  /** Ends the current batch, and starts the next one. */
  async finish(): Promise<void> {
    const { base } = this.#unit;
    while (this.#unit.base === base) await this.completeCall(0, false);
    const { session, loopId } = this.#parameters;
    const key = step({ session, run: this.#run, number: this.#number });
    const target = { loopId, branch: this.branch, base: this.#unit.base };
    const { outbox } = this.#unit;
    this.branch = (await this.transcript.claim(key, target, outbox, 1)).branch;
    this.history.push(...outbox.entries.map(getEntryText));
  }

  #createResultEntry(unit: CallUnit, completeCall: number): NewEntry {
    return entry(unit.base + unit.outbox.entries.length + completeCall, unit.texts[completeCall]!);
  }

  #createNextUnit(over?: CallUnit): CallUnit {
    if (over !== undefined) {
      this.history.push(...over.outbox.entries.map(getEntryText), ...over.texts);
      this.branch = [...over.done.values()].find((branch) => branch !== this.branch) ?? this.branch;
      this.#number += 1;
    }
    const { plan } = this.#parameters;
    const { calls, steered } = plan[this.#number % plan.length]!;
    const base = this.history.length;
    const writtenEvents = this.events.length;
    const events = [
      event(writtenEvents, `event ${writtenEvents} by ${this.#run}`),
      event(writtenEvents + 1, `event ${writtenEvents + 1} by ${this.#run}`),
    ];
    this.events.push(...events.map(getEventText));
    return {
      base,
      outbox: { entries: steered ? [entry(base, `steered ${base} by ${this.#run}`)] : [], events },
      texts: Array.from(
        { length: calls },
        (_, completeCall) => `result ${this.#number}.${completeCall} by ${this.#run}`,
      ),
      done: new Map(),
      generations: new Map(),
    };
  }
}

function getEventText({ body }: NewEvent): string {
  return body.type === "ProgressMessage" ? body.text : "";
}

function getEntryText({ message }: NewEntry): string {
  const content = message.role === "extension" ? undefined : message.content[0];
  return content?.type === "text" ? content.text : "";
}
