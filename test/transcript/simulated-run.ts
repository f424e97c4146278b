import type { Step } from "../../src/store/transcript/step.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import type { NewEntry, NewEvent, Outbox, StoreWrite } from "../../src/store/transcript/write.ts";
import { entry, event, NOTHING, step } from "./story.ts";

type UnitPlan = { readonly calls: number; readonly steered: boolean };
type Fixed = { readonly session: string; readonly loopId: string; readonly plan: readonly UnitPlan[] };
type Written = { readonly step: Step; readonly write: StoreWrite };

/** The unit of calls that is under way. A call is done once the machine knows its result. */
type Unit = {
  readonly base: number;
  readonly outbox: Outbox;
  readonly texts: string[];
  readonly done: Map<number, string>;
  readonly generations: Map<number, number>;
};

/** What the machine of one Temporal run does to a transcript: units of calls, in order, over and over. */
export class SimulatedRun {
  readonly transcript: Transcript;
  /** The texts of the conversation and of the events, as this run knows them. */
  readonly history: string[];
  readonly events: string[];
  branch: string;
  lastStored: Written | undefined;
  lastClaimed: Written | undefined;
  readonly #fixed: Fixed;
  readonly #run: string;
  #number: number;
  #unit: Unit;

  private constructor(
    transcript: Transcript,
    fixed: Fixed,
    run: string,
    state: { history: string[]; events: string[]; branch: string; number: number; unit?: Unit },
  ) {
    this.transcript = transcript;
    this.#fixed = fixed;
    this.#run = run;
    this.history = state.history;
    this.events = state.events;
    this.branch = state.branch;
    this.#number = state.number;
    this.#unit = state.unit ?? this.#nextUnit();
  }

  static first(transcript: Transcript, of: Fixed & { run: string; history: string[] }): SimulatedRun {
    return new SimulatedRun(transcript, of, of.run, {
      history: [...of.history],
      events: [],
      branch: "main",
      number: 1,
    });
  }

  /** A unit that has left its branch already, and is then reset in its middle, is not told apart by the port. */
  get mayBeReset(): boolean {
    return [...this.#unit.done.values()].every((branch) => branch === this.branch);
  }

  /** A run that knows what this one knows: calls that are not done will be made again. */
  reset(run: string): SimulatedRun {
    const unit = this.#unit;
    const told = this.events.length - unit.outbox.events.length;
    const outboxTold = unit.done.has(0);
    const texts = unit.texts.map((text, call) => (unit.done.has(call) ? text : `${text} by ${run}`));
    const outbox = outboxTold
      ? unit.outbox
      : {
          entries: unit.outbox.entries.map(({ position }) =>
            entry(position, `steered ${position} by ${run}`),
          ),
          events: unit.outbox.events.map(({ sequence }) => event(sequence, `event ${sequence} by ${run}`)),
        };
    return new SimulatedRun(this.transcript, this.#fixed, run, {
      history: [...this.history],
      events: outboxTold ? [...this.events] : [...this.events.slice(0, told), ...outbox.events.map(textOf)],
      branch: this.branch,
      number: this.#number,
      unit: { base: unit.base, outbox, texts, done: new Map(unit.done), generations: new Map() },
    });
  }

  /** Makes one of the calls that are open: claim and, unless the worker dies between them, store. */
  async call(which: number, crash: boolean): Promise<void> {
    const unit = this.#unit;
    const open = unit.texts.map((_, call) => call).filter((call) => !unit.done.has(call));
    const call = open[which % open.length]!;
    const generation = (unit.generations.get(call) ?? 0) + 1;
    unit.generations.set(call, generation);
    const key = step({
      session: this.#fixed.session,
      run: this.#run,
      number: this.#number,
      call,
      generation,
      process: `p${generation}`,
    });
    const place = { loopId: this.#fixed.loopId, branch: this.branch, base: unit.base };
    const write: StoreWrite = {
      ...place,
      step: key,
      atMs: 1,
      outbox: NOTHING,
      entries: [this.#resultEntry(unit, call)],
      result: `${this.#run} ${this.#number} ${call}`,
    };
    this.lastClaimed = { step: key, write };
    await this.transcript.claim(key, place, call === 0 ? unit.outbox : NOTHING, 1);
    if (crash) return;
    this.lastClaimed = undefined;
    const stored = await this.transcript.store(write);
    this.lastStored = { step: key, write };
    unit.done.set(call, stored.branch);
    if (unit.done.size === unit.texts.length) this.#unit = this.#nextUnit(unit);
  }

  /** Ends the unit under way, and begins the next one. */
  async finish(): Promise<void> {
    const { base } = this.#unit;
    while (this.#unit.base === base) await this.call(0, false);
    const { session, loopId } = this.#fixed;
    const key = step({ session, run: this.#run, number: this.#number });
    const place = { loopId, branch: this.branch, base: this.#unit.base };
    const { outbox } = this.#unit;
    this.branch = (await this.transcript.claim(key, place, outbox, 1)).branch;
    this.history.push(...outbox.entries.map(textOfEntry));
  }

  #resultEntry(unit: Unit, call: number): NewEntry {
    return entry(unit.base + unit.outbox.entries.length + call, unit.texts[call]!);
  }

  #nextUnit(over?: Unit): Unit {
    if (over !== undefined) {
      this.history.push(...over.outbox.entries.map(textOfEntry), ...over.texts);
      this.branch = [...over.done.values()].find((branch) => branch !== this.branch) ?? this.branch;
      this.#number += 1;
    }
    const { plan } = this.#fixed;
    const { calls, steered } = plan[this.#number % plan.length]!;
    const base = this.history.length;
    const told = this.events.length;
    const events = [
      event(told, `event ${told} by ${this.#run}`),
      event(told + 1, `event ${told + 1} by ${this.#run}`),
    ];
    this.events.push(...events.map(textOf));
    return {
      base,
      outbox: { entries: steered ? [entry(base, `steered ${base} by ${this.#run}`)] : [], events },
      texts: Array.from({ length: calls }, (_, call) => `result ${this.#number}.${call} by ${this.#run}`),
      done: new Map(),
      generations: new Map(),
    };
  }
}

function textOf({ body }: NewEvent): string {
  return body.type === "ProgressMessage" ? body.text : "";
}

function textOfEntry({ message }: NewEntry): string {
  const content = message.role === "extension" ? undefined : message.content[0];
  return content?.type === "text" ? content.text : "";
}
