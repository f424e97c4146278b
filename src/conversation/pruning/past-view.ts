import type { TagFadingSettings } from "../../core/machine/apply-reverts.ts";
import { isPlainView, toViewSnapshot, type View, type ViewSnapshot } from "../../core/view/view.ts";
import { toViewRanges, type ViewRange, type ViewRanges } from "../../core/view/view-ranges.ts";
import type { EventBody } from "../../schema/record.ts";
import { type BranchNode, listAncestry } from "./branch-ancestry.ts";
import { replayEarlierPrunes } from "./earlier-prunes.ts";
import { applyEvent, extendTo, type ViewState } from "./view-replay.ts";

// The view that a past answer was made from, out of the record alone: by the rules by which the machine has grown it.

/** A loop, as far as its views hang on it. */
export type LoopTrace = {
  /** Each was left for the next by going back; the last is the one that the loop goes on on. */
  readonly branches: readonly string[];
  readonly from: number;
  /** Of its events, in order. */
  readonly events: readonly EventBody[];
  /** What each compaction has left, in the order of its events; nothing in records that are too old for it. */
  readonly compactions: readonly (readonly ViewRange[] | undefined)[];
  /** It was the first loop of its run, which knew of no view yet. */
  readonly isFirstOfRun: boolean;
  /** Its model can change its view, so that the run has asked what earlier ones had pruned. */
  readonly asksBefore: boolean;
  /** How its lessons and findings fade, where the definition says so. */
  readonly fading?: TagFadingSettings | undefined;
  /** The same of each definition that it was moved to, in the order of the events. */
  readonly movedFading?: readonly (TagFadingSettings | undefined)[] | undefined;
};

/** An answer of the last loop: its position on one of the loop's branches. */
export type PastAnswer = { readonly branch: string; readonly position: number };

/** The view, or the position of a compaction for want of which it cannot be made again. */
export type PastView =
  | { readonly type: "view"; readonly view: ViewRanges }
  | { readonly type: "unrecorded"; readonly position: number };

/** How a loop that was closed has left the view; nothing where it shows all. */
type LoopEndView = { readonly branch: string; readonly to: number; readonly left: ViewState | undefined };

/**
 * What the model saw when it made this answer.
 *
 * @param loops - In order of start, up to and including the one that the answer belongs to.
 */
export function rebuildView(
  loops: readonly LoopTrace[],
  branches: readonly BranchNode[],
  answer: PastAnswer,
): PastView {
  const { branch, position } = answer;
  const ends: LoopEndView[] = branches.flatMap(getInheritedEnd);
  let seen: ViewState | undefined;
  loops.forEach((loop, index) => {
    const begun = buildStartState(loop, seen, ends, loops.slice(0, index), branches);
    const isAsked = index === loops.length - 1;
    seen = replayLoop(begun, loop, isAsked ? selectEventsBefore(loop, answer) : loop.events);
    const end = loop.events.findLast((body) => body.type === "AgentEnd");
    if (end !== undefined) ends.push(buildLoopEnd(loop, seen, end.to));
  });
  if (seen === undefined) return { type: "view", view: { branch, ranges: [] } };
  if (seen.unrecorded !== undefined) return { type: "unrecorded", position: seen.unrecorded };
  return { type: "view", view: toViewRanges({ ...extendTo(seen, position).view, branch }) };
}

/** What had happened when the answer came; all that is recorded, where the answer itself was not told of yet. */
export function selectEventsBefore(
  { branches, events }: Pick<LoopTrace, "branches" | "events">,
  { branch, position }: PastAnswer,
): readonly EventBody[] {
  let part = 0;
  let found: number | undefined;
  events.forEach((body, index) => {
    if (body.type === "RevertApplied" && body.applied) part += 1;
    if (body.type === "MessageStart" && body.position === position && isOnBranch(branches, part, branch)) {
      found = index;
    }
  });
  return events.slice(0, found);
}

/** What is written on an earlier branch below the place where it was left is seen on the later ones. */
function isOnBranch(branches: readonly string[], part: number, branch: string): boolean {
  return part <= branches.lastIndexOf(branch);
}

function getInheritedEnd({ id, inherited }: BranchNode): readonly LoopEndView[] {
  if (inherited === undefined) return [];
  const { position: to, view } = inherited;
  return [{ branch: id, to, left: { view: { branch: id, ...view }, length: to, turns: 0 } }];
}

function buildStartState(
  loop: LoopTrace,
  before: ViewState | undefined,
  ends: readonly LoopEndView[],
  earlier: readonly LoopTrace[],
  branches: readonly BranchNode[],
): ViewState {
  const { from, isFirstOfRun, asksBefore } = loop;
  const branch = loop.branches[0] ?? "";
  const run = { length: from, turns: isFirstOfRun ? 0 : (before?.turns ?? 0) };
  const line = listAncestry(branches, branch);
  // A loop's first branch may be one that a conflict has made since, at or behind its first position.
  const own = line.filter(({ until }) => until >= from).map(({ id }) => id);
  const goesOn = before !== undefined && !isFirstOfRun && before.length === from;
  if (goesOn && own.includes(before.view.branch)) return before;
  const end = line
    .map(({ id, until }) =>
      findNewestEnd(ends.filter((one) => one.branch === id && one.to <= Math.min(until, from))),
    )
    .find((one) => one !== undefined);
  if (end?.left !== undefined) {
    const { view, unrecorded } = extendTo(end.left, from);
    return { ...run, view: { ...view, branch }, ...(unrecorded === undefined ? {} : { unrecorded }) };
  }
  const pruned =
    isFirstOfRun && asksBefore && from > 0
      ? replayEarlierPrunes({ branch, from }, earlier, branches, [])
      : undefined;
  return pruned === undefined
    ? extendTo({ ...run, length: 0, view: { branch, spans: [] } }, from)
    : { ...run, view: { branch, ...pruned } };
}

/** Of those at the same place the loop that began last. */
function findNewestEnd(ends: readonly LoopEndView[]): LoopEndView | undefined {
  return ends.reduce<LoopEndView | undefined>(
    (best, end) => (best === undefined || end.to >= best.to ? end : best),
    undefined,
  );
}

function replayLoop(begun: ViewState, loop: LoopTrace, events: readonly EventBody[]): ViewState {
  let part = 0;
  let compaction = 0;
  let moves = 0;
  let { fading } = loop;
  return events.reduce<ViewState>((seen, body) => {
    const details = applyEvent(seen, body, {
      ranges: body.type === "CompactionEnded" ? loop.compactions[compaction++] : undefined,
      fading,
    });
    if (body.type === "DefinitionChanged" && body.applied) fading = loop.movedFading?.[moves++];
    if (body.type !== "RevertApplied" || !body.applied) return details;
    part += 1;
    return { ...details, view: { ...details.view, branch: loop.branches[part] ?? details.view.branch } };
  }, begun);
}

function buildLoopEnd({ branches }: LoopTrace, seen: ViewState, to: number): LoopEndView {
  const branch = branches.at(-1) ?? "";
  const isAll = seen.unrecorded === undefined && isPlainView(seen.view);
  return { branch, to, left: isAll ? undefined : { ...seen, view: resetForNextLoop(seen.view) } };
}

function resetForNextLoop(view: View): View {
  const left: ViewSnapshot = toViewSnapshot(view);
  return { branch: view.branch, ...left };
}
