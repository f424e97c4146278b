import type { AgentEvent } from "../../schema/agent-event.ts";
import type { EvaluationRecord } from "../../store/transcript/evaluation.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";

/** What is said of an evaluation as a whole: that it has begun, what its watchers are warned of, and what was chosen. */
export type GroupEvent = Extract<
  AgentEvent,
  { readonly type: "ParallelLoopStart" | "ParallelLoopEnd" | "ProgressMessage" }
>;

/** An evaluation by its number in the session, and what was told of it. */
export type GroupPlace = { readonly index: number; readonly told: number };

type Told = { start: boolean; warning: boolean; end: boolean };

/** As one number. */
const BITS = { start: 1, warning: 2, end: 4 } as const satisfies Record<keyof Told, number>;
const ALL = BITS.start | BITS.warning | BITS.end;

/** Brackets around the loops of evaluations, each told once. */
export class RecordedGroups {
  readonly #told = new Map<string, Told>();
  #records: readonly EvaluationRecord[] = [];

  /** The evaluations as they are now; to be read before the loops, so that what has ended is recorded. */
  read(records: readonly EvaluationRecord[]): void {
    this.#records = records;
  }

  /** Nothing of these is told. */
  skip(records: readonly EvaluationRecord[]): void {
    for (const { id } of records) this.#told.set(id, toldIn(ALL));
  }

  /** Goes on where `place` was: all is told of those before it. */
  resume(records: readonly EvaluationRecord[], place: GroupPlace | undefined): void {
    this.read(records);
    for (const [index, { id }] of records.entries()) {
      if (place === undefined || index > place.index) return;
      this.#told.set(id, toldIn(index < place.index ? ALL : place.told));
    }
  }

  /** The newest of which something was told. */
  place(): GroupPlace | undefined {
    const index = this.#records.findLastIndex(({ id }) => this.#told.has(id));
    const told = this.#told.get(this.#records[index]?.id ?? "");
    if (told === undefined) return undefined;
    const bit = (what: keyof Told) => (told[what] ? BITS[what] : 0);
    return { index, told: bit("start") | bit("warning") | bit("end") };
  }

  /** What comes before a loop's events. */
  *before(loop: LoopRecord): Generator<GroupEvent, void, void> {
    const group = this.#of(loop);
    if (group === undefined) return;
    yield* this.#start(group);
    if (loop.loopId === group.judgeLoopId) yield* this.#warning(group);
  }

  /** What comes behind the events of its last loop. */
  *behind(loop: LoopRecord): Generator<GroupEvent, void, void> {
    const group = this.#of(loop);
    if (group !== undefined) yield* this.#end(group);
  }

  /** Of those that have no loops. */
  *alone(loops: readonly LoopRecord[]): Generator<GroupEvent, void, void> {
    const withLoops = new Set(loops.map(({ evaluation }) => evaluation));
    for (const group of this.#records) {
      if (withLoops.has(group.id)) continue;
      yield* this.#start(group);
      yield* this.#end(group);
    }
  }

  #of({ evaluation }: LoopRecord): EvaluationRecord | undefined {
    return evaluation === undefined ? undefined : this.#records.find(({ id }) => id === evaluation);
  }

  #once(id: string, what: keyof Told): boolean {
    const told = this.#told.get(id) ?? { start: false, warning: false, end: false };
    this.#told.set(id, told);
    if (told[what]) return false;
    told[what] = true;
    return true;
  }

  *#start({ id, session, branches, startedAtMs }: EvaluationRecord): Generator<GroupEvent, void, void> {
    if (!this.#once(id, "start")) return;
    yield {
      type: "ParallelLoopStart",
      sessionId: session,
      loopIds: branches.map(({ loopId }) => loopId),
      timestamp: timestamp(startedAtMs),
    };
  }

  /** PAR-12. */
  *#warning({ id, warning, judgeLoopId }: EvaluationRecord): Generator<GroupEvent, void, void> {
    if (warning === undefined || judgeLoopId === undefined || !this.#once(id, "warning")) return;
    yield {
      type: "ProgressMessage",
      loopId: judgeLoopId,
      toolCallId: "evaluation",
      toolName: "judge",
      text: warning,
    };
  }

  *#end(group: EvaluationRecord): Generator<GroupEvent, void, void> {
    const { id, session, branches, closed, endedAtMs } = group;
    if (closed === undefined || endedAtMs === undefined) return;
    yield* this.#warning(group);
    if (!this.#once(id, "end")) return;
    const { selected } = closed.decision;
    yield {
      type: "ParallelLoopEnd",
      sessionId: session,
      selectedLoopId: closed.selectedLoopId ?? branches[selected]?.loopId ?? "",
      selectedConfigIndex: selected,
      evaluationUsage: closed.evaluationUsage,
      timestamp: timestamp(endedAtMs),
    };
  }
}

function toldIn(bits: number): Told {
  return {
    start: (bits & BITS.start) !== 0,
    warning: (bits & BITS.warning) !== 0,
    end: (bits & BITS.end) !== 0,
  };
}

function timestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}
