import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { EventBody, LoopEvent } from "../../schema/loop-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { Delta } from "../../store/stream/stream-hub.ts";
import type { EvaluationRecord } from "../../store/transcript/evaluation.ts";
import { findLeftBranches } from "../../store/transcript/find-left-branches.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { EvaluationEvents, type GroupEvent } from "./evaluation-events.ts";
import type { RecordedPosition } from "./event-cursor.ts";
import { FollowedLoop } from "./followed-loop.ts";

/** A recorded item. `message` is the message that the event refers to by position. */
export type RecordedItem =
  | {
      readonly type: "event";
      readonly event: LoopEvent;
      readonly message?: AgentMessage;
      readonly record: LoopRecord;
      /** The branch of the positions that the event refers to. After a revert, the record has the branch that follows it. */
      readonly branch: string;
    }
  | { readonly type: "group"; readonly event: GroupEvent };

/** Follows the recorded events of a session from a position on. */
export class RecordedEventReader {
  readonly #open: () => Promise<Transcript | undefined>;
  readonly #session: string;
  readonly #loops = new Map<string, FollowedLoop>();
  readonly #groups = new EvaluationEvents();
  readonly #skipped = new Set<string>();
  /** In order of start. */
  #records: readonly LoopRecord[] = [];
  /** The number of records, from the first one on, that are complete. */
  #first = 0;

  constructor(open: () => Promise<Transcript | undefined>, session: string) {
    this.#open = open;
    this.#session = session;
  }

  /**
   * Chooses where to begin, and yields the known events of turns in progress.
   *
   * @param openSince - When the open run began; absent if no run is open.
   */
  async *begin(
    from: "loop" | "session" | "now",
    openSince: Date | undefined,
  ): AsyncGenerator<RecordedItem, void, void> {
    const groups = await this.#readEvaluations();
    this.#groups.read(groups);
    const loops = await this.#readRecords();
    if (from === "session") return;
    const newest = loops.at(-1);
    const hasEnded =
      newest?.endedAtMs !== undefined && openSince !== undefined && newest.endedAtMs < openSince.getTime();
    // The loops of one evaluation are watched together.
    const group =
      groups.find(({ id }) => id === newest?.evaluation) ?? findEvaluationBegunSince(newest, groups.at(-1));
    const isNewest = (loop: LoopRecord) =>
      loop === newest || (group !== undefined && loop.evaluation === group.id);
    const isFollowed = (loop: LoopRecord) =>
      isNewest(loop) && (from === "now" ? loop.status === "running" : !hasEnded);
    for (const loop of loops) if (!isFollowed(loop)) this.#skipped.add(loop.loopId);
    this.#groups.markDelivered(
      groups.filter((one) => one !== group || (hasEnded && one.id === newest.evaluation)),
    );
    if (from !== "now") return;
    for (const loop of loops.filter(isFollowed)) yield* this.#findTurnStart(loop);
    yield* this.readNew();
  }

  /** Resumes at a reader's position, and yields the events of turns in progress that the reader already has. */
  async *resume({ first, loops, group }: RecordedPosition): AsyncGenerator<RecordedItem, void, void> {
    this.#groups.resume(await this.#readEvaluations(), group);
    const records = await this.#readRecords();
    this.#first = first;
    for (const [index, place] of loops.entries()) {
      const record = records[first + index];
      if (record === undefined) return;
      if (place === "skipped") this.#skipped.add(record.loopId);
      else yield* this.#replay(record, place.turnAt, place.next);
    }
  }

  /** Yields what was recorded since the last call. */
  async *readNew(): AsyncGenerator<RecordedItem, void, void> {
    const transcript = await this.#open();
    if (transcript === undefined) return;
    this.#groups.read(await this.#readEvaluations());
    const records = await this.#readRecords();
    const lastOf = new Map(records.map(({ evaluation, loopId }) => [evaluation, loopId]));
    for (const [index, record] of records.entries()) {
      yield* toItems(this.#groups.eventsBeforeLoop(record));
      if (index >= this.#first) yield* this.#readNewOfLoop(transcript, record);
      if (lastOf.get(record.evaluation) === record.loopId)
        yield* toItems(this.#groups.eventsAfterLoop(record));
    }
    yield* toItems(this.#groups.eventsWithoutLoops(records));
  }

  /** Tells whether the part that a delta belongs to is not recorded yet. */
  isOpen(delta: Delta): boolean {
    if (this.#skipped.has(delta.loopId)) return false;
    const loop = this.#loops.get(delta.loopId);
    if (loop !== undefined) return loop.isOpen(delta);
    return delta.body.type !== "recorded" && !this.#isPast(delta.loopId);
  }

  getLoopRecord(loopId: string): LoopRecord | undefined {
    return this.#records.findLast((record) => record.loopId === loopId);
  }

  /** Returns the position after the newest yielded event. */
  getPosition(): RecordedPosition {
    while (this.#first < this.#records.length && this.#isOver(this.#records[this.#first])) this.#first += 1;
    const positions = this.#records.slice(this.#first).map(({ loopId }) => {
      if (this.#skipped.has(loopId)) return "skipped" as const;
      const { next = 0, turnAt = 0 } = this.#loops.get(loopId) ?? {};
      return { next, turnAt };
    });
    const touched = positions.findLastIndex((position) => position === "skipped" || position.next > 0);
    return { first: this.#first, loops: positions.slice(0, touched + 1), group: this.#groups.getPosition() };
  }

  /** Returns the id of the loop with this number in the session. */
  getLoopId(index: number): string | undefined {
    return this.#records[index]?.loopId;
  }

  #isOver(record: LoopRecord | undefined): boolean {
    if (record === undefined) return false;
    return this.#skipped.has(record.loopId) || this.#loops.get(record.loopId)?.ended === true;
  }

  #isPast(loopId: string): boolean {
    const index = this.#records.findLastIndex((record) => record.loopId === loopId);
    return index >= 0 && index < this.#first;
  }

  async *#readNewOfLoop(
    transcript: Transcript,
    record: LoopRecord,
  ): AsyncGenerator<RecordedItem, void, void> {
    if (this.#skipped.has(record.loopId)) return;
    const loop = this.#getFollowedLoop(record);
    if (loop.ended) return;
    yield* this.#toItems(transcript, record, await transcript.readEvents(record.loopId, loop.next));
  }

  async *#findTurnStart(record: LoopRecord): AsyncGenerator<RecordedItem, void, void> {
    const events = (await (await this.#open())?.readEvents(record.loopId, 0)) ?? [];
    const turnAt = events.findLast(({ body }) => body.type === "TurnStart")?.sequence ?? 0;
    yield* this.#replay(record, turnAt, events.length);
  }

  /** Yields the known events of a loop: from the start of its newest turn up to, but not including, event `next`. */
  async *#replay(record: LoopRecord, turnAt: number, next: number): AsyncGenerator<RecordedItem, void, void> {
    const loop = this.#getFollowedLoop(record);
    const transcript = await this.#open();
    const events = next === 0 ? [] : ((await transcript?.readEvents(record.loopId, turnAt)) ?? []);
    const known = events.filter(({ sequence }) => sequence < next);
    if (transcript !== undefined) yield* this.#toItems(transcript, record, known);
    loop.next = next;
  }

  async *#toItems(
    transcript: Transcript,
    record: LoopRecord,
    events: readonly LoopEvent[],
  ): AsyncGenerator<RecordedItem, void, void> {
    const loop = this.#getFollowedLoop(record);
    for await (const { event, branch, message } of this.#withMessages(transcript, record.branch, events)) {
      loop.record(event, message);
      yield { type: "event", event, record, branch, ...omitUndefined({ message }) };
    }
  }

  async #readRecords(): Promise<readonly LoopRecord[]> {
    this.#records = (await (await this.#open())?.readLoops(this.#session)) ?? [];
    return this.#records;
  }

  async #readEvaluations(): Promise<readonly EvaluationRecord[]> {
    return (await (await this.#open())?.readEvaluations(this.#session)) ?? [];
  }

  #getFollowedLoop({ loopId }: LoopRecord): FollowedLoop {
    const loop = this.#loops.get(loopId) ?? new FollowedLoop();
    this.#loops.set(loopId, loop);
    return loop;
  }

  /** Yields each event with its branch and message. Events before a RevertApplied refer to the branch that it left. */
  async *#withMessages(transcript: Transcript, branch: string, events: readonly LoopEvent[]) {
    const bodies = events.map(({ body }) => body);
    const isLeaving = (body: EventBody) => body.type === "RevertApplied" && body.applied;
    const branches = bodies.some(isLeaving) ? await transcript.readBranches(this.#session) : [];
    let from = 0;
    for (const one of [...findLeftBranches(branches, branch, bodies), branch]) {
      const end = bodies.findIndex((body, index) => index >= from && isLeaving(body));
      const stretch = events.slice(from, one === branch || end < 0 ? events.length : end + 1);
      from += stretch.length;
      const messages = await this.#readMessages(transcript, one, stretch);
      for (const event of stretch)
        yield { event, branch: one, message: messages.get(getMessagePosition(event.body) ?? -1) };
    }
  }

  /** Reads the messages of the events in one query. */
  async #readMessages(
    transcript: Transcript,
    branch: string,
    events: readonly LoopEvent[],
  ): Promise<ReadonlyMap<number, AgentMessage>> {
    const positions = events.flatMap(({ body }) => getMessagePosition(body) ?? []);
    if (positions.length === 0) return new Map();
    const from = positions.reduce((least, position) => Math.min(least, position));
    const to = positions.reduce((most, position) => Math.max(most, position)) + 1;
    const entries = await transcript.readEntries(this.#session, branch, from, to);
    return new Map(entries.map(({ position, message }) => [position, message]));
  }
}

/** Finds an evaluation that has no loops yet. */
function findEvaluationBegunSince(
  newest: LoopRecord | undefined,
  group: EvaluationRecord | undefined,
): EvaluationRecord | undefined {
  if (group === undefined || group.endedAtMs !== undefined) return undefined;
  return newest === undefined || newest.startedAtMs <= group.startedAtMs ? group : undefined;
}

function* toItems(events: Iterable<GroupEvent>): Generator<RecordedItem, void, void> {
  for (const event of events) yield { type: "group", event };
}

function getMessagePosition(body: EventBody): number | undefined {
  return "position" in body ? body.position : undefined;
}
