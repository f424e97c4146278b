import type { AgentEvent } from "../../schema/agent-event.ts";
import type { EvaluationRecord } from "../../store/transcript/evaluation.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";

/** What is said of an evaluation as a whole: that it has begun, what its watchers are warned of, and what was chosen. */
export type GroupEvent = Extract<
  AgentEvent,
  { readonly type: "ParallelLoopStart" | "ParallelLoopEnd" | "ProgressMessage" }
>;

/** An evaluation by its number in the session, and what was told of it. */
export type GroupPosition = { readonly index: number; readonly told: number };

type DeliveredParts = { start: boolean; warning: boolean; end: boolean };

/** As one number. */
const BITS = { start: 1, warning: 2, end: 4 } as const satisfies Record<keyof DeliveredParts, number>;
const ALL = BITS.start | BITS.warning | BITS.end;

/** Brackets around the loops of evaluations, each told once. */
export class EvaluationEvents {
  readonly #delivered = new Map<string, DeliveredParts>();
  #records: readonly EvaluationRecord[] = [];

  /** The evaluations as they are now; to be read before the loops, so that what has ended is recorded. */
  read(records: readonly EvaluationRecord[]): void {
    this.#records = records;
  }

  /** Nothing of these is told. */
  markDelivered(records: readonly EvaluationRecord[]): void {
    for (const { id } of records) this.#delivered.set(id, parseDeliveredParts(ALL));
  }

  /** Goes on where `place` was: all is told of those before it. */
  resume(records: readonly EvaluationRecord[], position: GroupPosition | undefined): void {
    this.read(records);
    for (const [index, { id }] of records.entries()) {
      if (position === undefined || index > position.index) return;
      this.#delivered.set(id, parseDeliveredParts(index < position.index ? ALL : position.told));
    }
  }

  /** The newest of which something was told. */
  getPosition(): GroupPosition | undefined {
    const index = this.#records.findLastIndex(({ id }) => this.#delivered.has(id));
    const delivered = this.#delivered.get(this.#records[index]?.id ?? "");
    if (delivered === undefined) return undefined;
    const bit = (what: keyof DeliveredParts) => (delivered[what] ? BITS[what] : 0);
    return { index, told: bit("start") | bit("warning") | bit("end") };
  }

  /** What comes before a loop's events. */
  *eventsBeforeLoop(loop: LoopRecord): Generator<GroupEvent, void, void> {
    const group = this.#findGroup(loop);
    if (group === undefined) return;
    yield* this.#emitStart(group);
    if (loop.loopId === group.judgeLoopId) yield* this.#emitWarning(group);
  }

  /** What comes behind the events of its last loop. */
  *eventsAfterLoop(loop: LoopRecord): Generator<GroupEvent, void, void> {
    const group = this.#findGroup(loop);
    if (group !== undefined) yield* this.#emitEnd(group);
  }

  /** Of those that have no loops. */
  *eventsWithoutLoops(loops: readonly LoopRecord[]): Generator<GroupEvent, void, void> {
    const withLoops = new Set(loops.map(({ evaluation }) => evaluation));
    for (const group of this.#records) {
      if (withLoops.has(group.id)) continue;
      yield* this.#emitStart(group);
      yield* this.#emitEnd(group);
    }
  }

  #findGroup({ evaluation }: LoopRecord): EvaluationRecord | undefined {
    return evaluation === undefined ? undefined : this.#records.find(({ id }) => id === evaluation);
  }

  #markOnce(id: string, part: keyof DeliveredParts): boolean {
    const delivered = this.#delivered.get(id) ?? { start: false, warning: false, end: false };
    this.#delivered.set(id, delivered);
    if (delivered[part]) return false;
    delivered[part] = true;
    return true;
  }

  *#emitStart({ id, session, branches, startedAtMs }: EvaluationRecord): Generator<GroupEvent, void, void> {
    if (!this.#markOnce(id, "start")) return;
    yield {
      type: "ParallelLoopStart",
      sessionId: session,
      loopIds: branches.map(({ loopId }) => loopId),
      timestamp: formatTimestamp(startedAtMs),
    };
  }

  /** PAR-12. */
  *#emitWarning({ id, warning, judgeLoopId }: EvaluationRecord): Generator<GroupEvent, void, void> {
    if (warning === undefined || judgeLoopId === undefined || !this.#markOnce(id, "warning")) return;
    yield {
      type: "ProgressMessage",
      loopId: judgeLoopId,
      toolCallId: "evaluation",
      toolName: "judge",
      text: warning,
    };
  }

  *#emitEnd(group: EvaluationRecord): Generator<GroupEvent, void, void> {
    const { id, session, branches, closed, endedAtMs } = group;
    if (closed === undefined || endedAtMs === undefined) return;
    yield* this.#emitWarning(group);
    if (!this.#markOnce(id, "end")) return;
    const { selected } = closed.decision;
    yield {
      type: "ParallelLoopEnd",
      sessionId: session,
      selectedLoopId: closed.selectedLoopId ?? branches[selected]?.loopId ?? "",
      selectedConfigIndex: selected,
      evaluationUsage: closed.evaluationUsage,
      timestamp: formatTimestamp(endedAtMs),
    };
  }
}

function parseDeliveredParts(bitMask: number): DeliveredParts {
  return {
    start: (bitMask & BITS.start) !== 0,
    warning: (bitMask & BITS.warning) !== 0,
    end: (bitMask & BITS.end) !== 0,
  };
}

function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}
