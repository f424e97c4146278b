import type { AgentMessage } from "../schema/message.ts";
import type { EventBody, LoopEvent } from "../schema/record.ts";
import type { Delta } from "../stream/stream.ts";
import type { EvaluationRecord } from "../transcript/evaluation.ts";
import { leftBranches } from "../transcript/left-branches.ts";
import type { LoopRecord } from "../transcript/loop.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { type GroupEvent, RecordedGroups } from "./recorded-groups.ts";
import type { WatchItem } from "./watch.ts";

/** What a watcher has read of one loop. */
type Followed = {
  readonly record: LoopRecord;
  /** The number of the next event. */
  next: number;
  ended: boolean;
  /** Turns whose answer is recorded. */
  readonly answered: Set<number>;
  /** The turn that the newest events belong to. */
  turn: number;
  /** Calls, as `turn/id`, whose result is recorded. */
  readonly results: Set<string>;
};

/** Follows the recorded events of a session from one loop on. */
export class Recorded {
  readonly #open: () => Promise<Transcript | undefined>;
  readonly #session: string;
  readonly #loops = new Map<string, Followed>();
  readonly #groups = new RecordedGroups();
  #skipped: Set<string> = new Set();

  constructor(open: () => Promise<Transcript | undefined>, session: string) {
    this.#open = open;
    this.#session = session;
  }

  /** Chooses where to begin. @param openSince - When the open run began; absent: no run is open. */
  async begin(from: "loop" | "session" | "now", openSince: Date | undefined): Promise<void> {
    const groups = await this.#evaluations();
    const loops = await this.#records();
    if (from === "session") return;
    const newest = loops.at(-1);
    const over =
      newest?.endedAtMs !== undefined && openSince !== undefined && newest.endedAtMs < openSince.getTime();
    // The loops of one evaluation are watched together.
    const group = groups.find(({ id }) => id === newest?.evaluation) ?? begunSince(newest, groups.at(-1));
    const isNewest = (loop: LoopRecord) =>
      loop === newest || (group !== undefined && loop.evaluation === group.id);
    const skipped = from === "now" || over ? loops : loops.filter((loop) => !isNewest(loop));
    this.#skipped = new Set(skipped.map(({ loopId }) => loopId));
    this.#groups.skip(groups.filter((one) => one !== group || (over && one.id === newest.evaluation)));
    if (from !== "now") return;
    // The loops that run are followed from their next event on.
    const running = loops.filter((loop) => isNewest(loop) && loop.status === "running");
    for (const { loopId } of running) this.#skipped.delete(loopId);
    for await (const _ of this.news());
  }

  /** What was recorded since the last call. */
  async *news(): AsyncGenerator<WatchItem, void, void> {
    const transcript = await this.#open();
    if (transcript === undefined) return;
    this.#groups.read(await this.#evaluations());
    const records = await this.#records();
    for (const [index, record] of records.entries()) {
      yield* asItems(this.#groups.before(record));
      yield* this.#newsOf(transcript, record);
      yield* asItems(this.#groups.behind(record, records.slice(index + 1)));
    }
    yield* asItems(this.#groups.alone(records));
  }

  async *#newsOf(transcript: Transcript, record: LoopRecord): AsyncGenerator<WatchItem, void, void> {
    if (this.#skipped.has(record.loopId)) return;
    const loop = this.#follow(record);
    if (loop.ended) return;
    const events = await transcript.events(record.loopId, loop.next);
    for await (const { event, message } of this.#withMessages(transcript, record.branch, events)) {
      note(loop, event, message);
      yield { type: "event", event, ...(message === undefined ? {} : { message }) };
    }
  }

  /** Whether what a delta is a part of is still to be recorded. */
  async isOpen(delta: Delta): Promise<boolean> {
    if (this.#skipped.has(delta.loopId)) return false;
    const loop = this.#loops.get(delta.loopId);
    if (loop === undefined) return true;
    if (loop.ended) return false;
    const { body, turn } = delta;
    switch (body.type) {
      case "text":
      case "thinking":
      case "tool-call":
        return !loop.answered.has(turn);
      case "tool-start":
      case "tool-output":
      case "progress":
        return !loop.results.has(`${turn}/${body.toolCallId}`);
      case "attempt":
      case "dropped":
        return turn >= loop.turn;
      case "recorded":
        return false;
    }
  }

  async #records(): Promise<readonly LoopRecord[]> {
    return (await (await this.#open())?.loops(this.#session)) ?? [];
  }

  async #evaluations(): Promise<readonly EvaluationRecord[]> {
    return (await (await this.#open())?.evaluations(this.#session)) ?? [];
  }

  #follow(record: LoopRecord): Followed {
    const known = this.#loops.get(record.loopId);
    if (known !== undefined) return known;
    const followed: Followed = {
      record,
      next: 0,
      ended: false,
      answered: new Set(),
      turn: 0,
      results: new Set(),
    };
    this.#loops.set(record.loopId, followed);
    return followed;
  }

  /** Each event with the message that it names; what stands before a RevertApplied is on the branch that it has left. */
  async *#withMessages(transcript: Transcript, branch: string, events: readonly LoopEvent[]) {
    const bodies = events.map(({ body }) => body);
    const isLeaving = (body: EventBody) => body.type === "RevertApplied" && body.applied;
    const branches = bodies.some(isLeaving) ? await transcript.branches(this.#session) : [];
    let from = 0;
    for (const one of [...leftBranches(branches, branch, bodies), branch]) {
      const end = bodies.findIndex((body, index) => index >= from && isLeaving(body));
      const stretch = events.slice(from, one === branch || end < 0 ? events.length : end + 1);
      from += stretch.length;
      const messages = await this.#messages(transcript, one, stretch);
      for (const event of stretch) yield { event, message: messages.get(positionOf(event.body) ?? -1) };
    }
  }

  /** The messages that the events name, read in one go. */
  async #messages(
    transcript: Transcript,
    branch: string,
    events: readonly LoopEvent[],
  ): Promise<ReadonlyMap<number, AgentMessage>> {
    const positions = events.flatMap(({ body }) => positionOf(body) ?? []);
    if (positions.length === 0) return new Map();
    const from = positions.reduce((least, position) => Math.min(least, position));
    const to = positions.reduce((most, position) => Math.max(most, position)) + 1;
    const entries = await transcript.entries(this.#session, branch, from, to);
    return new Map(entries.map(({ position, message }) => [position, message]));
  }
}

/** An evaluation that has no loops yet. */
function begunSince(
  newest: LoopRecord | undefined,
  group: EvaluationRecord | undefined,
): EvaluationRecord | undefined {
  if (group === undefined || group.endedAtMs !== undefined) return undefined;
  return newest === undefined || newest.startedAtMs <= group.startedAtMs ? group : undefined;
}

function* asItems(events: Iterable<GroupEvent>): Generator<WatchItem, void, void> {
  for (const event of events) yield { type: "group", event };
}

function note(loop: Followed, event: LoopEvent, message: AgentMessage | undefined): void {
  const { body } = event;
  loop.next = event.sequence + 1;
  switch (body.type) {
    case "TurnStart":
      loop.turn = body.turn;
      break;
    case "MessageEnd":
      if (message?.role === "assistant") loop.answered.add(message.turnId?.turnIndex ?? loop.turn);
      break;
    case "ToolExecutionEnd":
      loop.results.add(`${loop.turn}/${body.toolCallId}`);
      break;
    case "AgentEnd":
      loop.ended = true;
      break;
  }
}

function positionOf(body: EventBody): number | undefined {
  return "position" in body ? body.position : undefined;
}
