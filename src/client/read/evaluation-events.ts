import { formatTimestamp } from "../../platform/text/timestamp.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { EvaluationRecord } from "../../store/transcript/evaluation.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import { PROGRESS_SOURCES } from "./progress-sources.ts";

/** The events of an evaluation as a whole: its start, its warning, and its choice. */
export type GroupEvent = Extract<
  AgentEvent,
  { readonly type: "ParallelLoopStart" | "ParallelLoopEnd" | "ProgressMessage" }
>;

/** An evaluation's number in the session, and which of its events were delivered. */
export type GroupPosition = { readonly index: number; readonly delivered: number };

type DeliveredParts = { start: boolean; warning: boolean; end: boolean };

/** The delivered parts as one number. */
const BITS = { start: 1, warning: 2, end: 4 } as const satisfies Record<keyof DeliveredParts, number>;
const ALL = BITS.start | BITS.warning | BITS.end;

/** Emits the bracketing events around the loops of evaluations, each once. */
export class EvaluationEvents {
  readonly #delivered = new Map<string, DeliveredParts>();
  #records: readonly EvaluationRecord[] = [];

  /** Takes the current evaluations. Call it before you read the loops: a closed evaluation's loops are recorded then. */
  read(records: readonly EvaluationRecord[]): void {
    this.#records = records;
  }

  /** Marks these evaluations as delivered: none of their events is emitted. */
  markDelivered(records: readonly EvaluationRecord[]): void {
    for (const { id } of records) this.#delivered.set(id, parseDeliveredParts(ALL));
  }

  /** Resumes at `position`: the events of all earlier evaluations count as delivered. */
  resume(records: readonly EvaluationRecord[], position: GroupPosition | undefined): void {
    this.read(records);
    for (const [index, { id }] of records.entries()) {
      if (position === undefined || index > position.index) return;
      this.#delivered.set(id, parseDeliveredParts(index < position.index ? ALL : position.delivered));
    }
  }

  /** Returns the newest evaluation of which an event was delivered. */
  getPosition(): GroupPosition | undefined {
    const index = this.#records.findLastIndex(({ id }) => this.#delivered.has(id));
    const delivered = this.#delivered.get(this.#records[index]?.id ?? "");
    if (delivered === undefined) return undefined;
    const bit = (what: keyof DeliveredParts) => (delivered[what] ? BITS[what] : 0);
    return { index, delivered: bit("start") | bit("warning") | bit("end") };
  }

  /** Yields the events that precede a loop's events. */
  *eventsBeforeLoop(loop: LoopRecord): Generator<GroupEvent, void, void> {
    const group = this.#findGroup(loop);
    if (group === undefined) return;
    yield* this.#emitStart(group);
    if (loop.loopId === group.judgeLoopId) yield* this.#emitWarning(group);
  }

  /** Yields the events that follow those of an evaluation's last loop. */
  *eventsAfterLoop(loop: LoopRecord): Generator<GroupEvent, void, void> {
    const group = this.#findGroup(loop);
    if (group !== undefined) yield* this.#emitEnd(group);
  }

  /** Yields the events of evaluations that have no loops. */
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

  /** Emits the warning of PAR-12. */
  *#emitWarning({ id, warning, judgeLoopId }: EvaluationRecord): Generator<GroupEvent, void, void> {
    if (warning === undefined || judgeLoopId === undefined || !this.#markOnce(id, "warning")) return;
    yield {
      type: "ProgressMessage",
      loopId: judgeLoopId,
      toolCallId: PROGRESS_SOURCES.evaluation,
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
