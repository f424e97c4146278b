import type { Entry, EventBody } from "../schema/record.ts";
import { COMPACTION_KIND } from "./seen-messages.ts";
import type { Range, ViewRanges } from "./view-ranges.ts";

// The view that a past answer was made from, out of the record alone: the same rules by which the machine has grown it.

/** A loop, as far as its views hang on it. */
export type LoopTrace = {
  readonly branch: string;
  readonly from: number;
  /** Of its events, in order. */
  readonly events: readonly EventBody[];
  /** It was the first loop of its run, which knew of no view yet. */
  readonly isFirstOfRun: boolean;
};

/** The view, or why it cannot be made again. */
export type PastView =
  | { readonly type: "view"; readonly view: ViewRanges }
  | { readonly type: "unrecorded"; readonly position: number }
  /** A model had changed its view by itself: what is left of that is not made again yet. */
  | { readonly type: "changed-by-model" };

/**
 * What the model saw when it made the answer at `answer`: everything before it, or the newest compaction's view of it
 * and everything since.
 *
 * A compaction holds for the rest of its run, and for what begins behind the end of its loop.
 *
 * @param loops - In order of start, up to and including the one that the answer belongs to.
 * @param entries - Of the last loop's branch, in order of position.
 */
export function pastView(loops: readonly LoopTrace[], entries: readonly Entry[], answer: number): PastView {
  const branch = loops.at(-1)?.branch ?? "";
  if (loops.some(({ events }) => events.some(isOfModel))) return { type: "changed-by-model" };
  const from = loops.at(-1)?.from ?? 0;
  const closed = loops.filter((loop) => (endOf(loop) ?? Number.POSITIVE_INFINITY) <= from);
  const kept = [...closed, ...connected(loops)];
  const taken = new Set(kept.flatMap(compactionsOf));
  const newest = entries.findLast(({ position }) => position < answer && taken.has(position));
  if (newest === undefined) return { type: "view", view: { branch, ranges: stretch(0, answer) } };
  const { position } = newest;
  const ranges = rangesIn(newest);
  if (ranges === undefined) return { type: "unrecorded", position };
  return { type: "view", view: { branch, ranges: [...ranges, ...stretch(position + 1, answer)] } };
}

/** The last loop, and those before it whose view it has taken over. */
function connected(loops: readonly LoopTrace[]): readonly LoopTrace[] {
  const taken: LoopTrace[] = [];
  for (const loop of [...loops].reverse()) {
    const next = taken[0];
    if (next !== undefined && (loop.branch !== next.branch || endOf(loop) !== next.from)) break;
    taken.unshift(loop);
    if (loop.isFirstOfRun) break;
  }
  return taken;
}

function endOf({ events }: LoopTrace): number | undefined {
  return events.flatMap((body) => (body.type === "AgentEnd" ? [body.to] : [])).at(-1);
}

function isOfModel(body: EventBody): boolean {
  return body.type === "PrunApplied" || (body.type === "RevertApplied" && body.applied);
}

/** One that was written and not taken has no event. */
function compactionsOf({ events }: LoopTrace): readonly number[] {
  return events.flatMap((body) => (body.type === "CompactionEnded" ? [body.position] : []));
}

function rangesIn({ message }: Entry): readonly Range[] | undefined {
  if (message.role !== "extension" || message.kind !== COMPACTION_KIND) return undefined;
  return (message.data as { ranges?: readonly Range[] }).ranges;
}

function stretch(from: number, to: number): readonly Range[] {
  return to > from ? [{ from, to }] : [];
}
