import { isDeepStrictEqual } from "node:util";
import {
  buildOutboxMessage,
  type NewBranch,
  type Outbox,
  type OutboxEvent,
} from "../../src/core/machine/outbox.ts";
import type { InboundMessage } from "../../src/core/machine/state/state.ts";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { ContinuationKind, Entry, EntryOrigin, Outcome } from "../../src/schema/record.ts";

// The transcript's rules in a hundred lines, in memory: branches that are only appended to by compare-and-set on
// (branch, position), keyed by the run; events by number; an inbox; results of steps by (run, command, call).

type Written = { readonly run: string; readonly entry: Entry };

type Branch = {
  readonly id: string;
  readonly parent?: { readonly branch: string; readonly position: number };
  readonly own: Map<number, Written>;
};

type Step = { generation: number; stored?: { readonly branch: string; readonly result: unknown } };

export type StepKey = { readonly run: string; readonly number: number; readonly call: number };
export type Place = {
  readonly loopId: string;
  readonly branch: string;
  readonly base: number;
  readonly fork?: NewBranch;
};
export type NewEntry = {
  readonly position: number;
  readonly origin: EntryOrigin;
  readonly message: AgentMessage;
  readonly messageId?: string;
  readonly left?: true;
};

export type Loop = { readonly loopId: string; readonly kind: ContinuationKind; outcome?: Outcome };

export class FakeTranscript {
  readonly branches = new Map<string, Branch>();
  readonly events = new Map<string, Map<number, OutboxEvent>>();
  readonly steps = new Map<string, Step>();
  readonly loops: Loop[] = [];
  inbox: InboundMessage[] = [];
  head = "main";

  /** Writes the outbox and takes the step, or gives back what it has stored. */
  claim(key: StepKey, generation: number, place: Place, outbox: Outbox) {
    const step = this.#step(key);
    if (step.stored !== undefined) {
      // A sibling may have left the branch since then.
      return { ...step.stored, branch: this.write(key.run, place, outbox, []) };
    }
    if (step.generation > generation)
      throw new Error(`Fenced: ${generation} is older than ${step.generation}`);
    step.generation = generation;
    return { branch: this.write(key.run, place, outbox, []) };
  }

  store(
    key: StepKey,
    generation: number,
    place: Place,
    outbox: Outbox,
    entries: NewEntry[],
    result: unknown,
  ) {
    const step = this.#step(key);
    if (step.stored === undefined) {
      if (step.generation > generation)
        throw new Error(`Fenced: ${generation} is older than ${step.generation}`);
      step.stored = { branch: this.write(key.run, place, outbox, entries), result };
    }
    return step.stored;
  }

  write(run: string, place: Place, outbox: Outbox, entries: readonly NewEntry[]): string {
    const all = [
      ...outbox.entries.map(
        (entry): NewEntry => ({
          position: entry.position,
          origin: entry.origin,
          message: buildOutboxMessage(entry, place.loopId),
          ...(entry.body.type === "person" || entry.body.type === "refused"
            ? { messageId: entry.body.message.id }
            : {}),
          ...(entry.left === true ? { left: true as const } : {}),
        }),
      ),
      ...entries,
    ];
    const base = Math.min(place.base, ...all.map(({ position }) => position));
    if (base < place.base) throw new Error(`A write at ${base} goes below its base ${place.base}`);
    const left = all.filter((entry) => entry.left === true);
    for (const entry of left) this.#put(run, this.#branch(place.branch), entry);
    const start =
      place.fork === undefined ? this.#branch(place.branch) : this.#fork(run, place.branch, place.fork);
    const branch = this.#branchFor(run, start, base);
    for (const entry of all) if (entry.left !== true) this.#put(run, branch, entry);
    for (const event of outbox.events) this.#putEvent(place.loopId, event);
    this.head = branch.id;
    return branch.id;
  }

  openLoop(loopId: string, kind: ContinuationKind): void {
    this.#branch(this.head);
    this.loops.push({ loopId, kind });
  }

  /** The unbroken prefix, ancestors' entries included. */
  entries(branchId: string): Entry[] {
    const found: Entry[] = [];
    for (let position = 0; ; position++) {
      const entry = this.entryAt(branchId, position);
      if (entry === undefined) return found;
      found.push(entry);
    }
  }

  entryAt(branchId: string, position: number): Entry | undefined {
    const branch = this.branches.get(branchId);
    if (branch === undefined) return undefined;
    const { parent } = branch;
    if (parent !== undefined && position < parent.position) return this.entryAt(parent.branch, position);
    return branch.own.get(position)?.entry;
  }

  eventsOf(loopId: string): OutboxEvent[] {
    return [...(this.events.get(loopId)?.values() ?? [])].sort((a, b) => a.sequence - b.sequence);
  }

  isEntered(branchId: string, id: string): boolean {
    return this.entries(branchId).some(({ messageId }) => messageId === id);
  }

  putInbox(messages: readonly InboundMessage[]): void {
    for (const message of messages) {
      if (this.inbox.some(({ id }) => id === message.id) || this.isEntered(this.head, message.id)) continue;
      this.inbox.push(message);
    }
  }

  /** Another run writes at the end of a branch, as one that a reset has left behind may. */
  intrude(branchId: string, position: number): void {
    const message: AgentMessage = {
      role: "user",
      content: [{ type: "text", text: "of another run" }],
      timestamp: 0,
    };
    const { own } = this.#branch(branchId);
    if (own.has(position)) return;
    own.set(position, { run: "ghost", entry: { position, origin: "machine", message, tokens: 1 } });
  }

  #step(key: StepKey): Step {
    const name = `${key.run}/${key.number}/${key.call}`;
    const step = this.steps.get(name) ?? { generation: 0 };
    this.steps.set(name, step);
    return step;
  }

  #branch(id: string): Branch {
    const branch = this.branches.get(id) ?? { id, own: new Map() };
    this.branches.set(id, branch);
    return branch;
  }

  #fork(run: string, parent: string, { at, by }: NewBranch): Branch {
    const id = `${parent}<${run}@${at}/${by}`;
    const made = this.branches.get(id) ?? { id, parent: { branch: parent, position: at }, own: new Map() };
    this.branches.set(id, made);
    return made;
  }

  /** A run that finds another's entries at its base or behind it goes on in a fork of its own. */
  #branchFor(run: string, start: Branch, base: number): Branch {
    let branch = start;
    for (;;) {
      const id = `${branch.id}~${run}@${base}`;
      const fork = this.branches.get(id);
      if (fork !== undefined) {
        branch = fork;
        continue;
      }
      const behind = [...branch.own].filter(([position]) => position >= base);
      if (behind.every(([, written]) => written.run === run)) return branch;
      const own = new Map(behind.filter(([, written]) => written.run === run));
      const made: Branch = { id, parent: { branch: branch.id, position: base }, own };
      this.branches.set(id, made);
      return made;
    }
  }

  /** A position that the run itself has written keeps what it has. */
  #put(run: string, branch: Branch, entry: NewEntry): void {
    const there = branch.own.get(entry.position);
    if (there !== undefined) {
      if (there.run !== run) throw new Error(`Position ${entry.position} of ${branch.id} is ${there.run}'s`);
      return;
    }
    const { left: _, ...written } = entry;
    branch.own.set(entry.position, { run, entry: { ...written, tokens: estimateMessage(entry.message) } });
  }

  #putEvent(loopId: string, event: OutboxEvent): void {
    const events = this.events.get(loopId) ?? new Map<number, OutboxEvent>();
    this.events.set(loopId, events);
    const there = events.get(event.sequence);
    if (there === undefined) events.set(event.sequence, event);
    else if (!isDeepStrictEqual(there, event)) {
      throw new Error(`Event ${event.sequence} of ${loopId} was ${there.body.type}, now ${event.body.type}`);
    }
  }
}
