import type { TagFadingSettings } from "../../core/machine/apply-reverts.ts";
import { isPlainView, toViewSnapshot, type View, type ViewSnapshot } from "../../core/view/view.ts";
import { toViewRanges, type ViewRange, type ViewRanges } from "../../core/view/view-ranges.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import { type BranchNode, listAncestry } from "./branch-ancestry.ts";
import { replayEarlierPrunes } from "./earlier-prunes.ts";
import { applyEvent, extendTo, type ViewState } from "./view-replay.ts";

// Rebuilds the view of a past answer from the record alone, by the same rules by which the machine has built it.

/** The fields of a loop that determine its views. */
export type LoopTrace = {
  /** Each was left for the next one by going back; the loop continues on the last one. */
  readonly branches: readonly string[];
  readonly from: number;
  /** The loop's events, in order. */
  readonly events: readonly EventBody[];
  /** What each compaction has left, in the order of its events; absent in records that are too old for it. */
  readonly compactions: readonly (readonly ViewRange[] | undefined)[];
  /** It was the first loop of its run, which had no view yet. */
  readonly isFirstOfRun: boolean;
  /** Its model can change its view, so the run has read what earlier loops had pruned. */
  readonly readsEarlierPrunes: boolean;
  /** How its lessons and findings fade, when the definition sets it. */
  readonly tagFading?: TagFadingSettings | undefined;
  /** The same for each definition to which it was updated, in the order of the events. */
  readonly updatedTagFading?: readonly (TagFadingSettings | undefined)[] | undefined;
};

/** An answer of the last loop: its position on one of the loop's branches. */
export type PastAnswer = { readonly branch: string; readonly position: number };

/** The view, or the position of the compaction whose missing record prevents rebuilding it. */
export type PastView =
  | { readonly type: "view"; readonly view: ViewRanges }
  | { readonly type: "unrecorded"; readonly position: number };

/** How a closed loop has left the view; absent when everything is visible. */
type LoopEndView = { readonly branch: string; readonly to: number; readonly state: ViewState | undefined };

/**
 * Rebuilds what the model saw when it made this answer.
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
    const begun = removesCompaction(loop)
      ? buildWholeState(loop)
      : buildStartState(loop, seen, ends, loops.slice(0, index), branches);
    const isAsked = index === loops.length - 1;
    seen = replayLoop(begun, loop, isAsked ? selectEventsBefore(loop, answer) : loop.events);
    const end = loop.events.findLast((body) => body.type === "AgentEnd");
    if (end !== undefined) ends.push(buildLoopEnd(loop, seen, end.to));
  });
  if (seen === undefined) return { type: "view", view: { branch, ranges: [] } };
  if (seen.unrecordedCompaction !== undefined)
    return { type: "unrecorded", position: seen.unrecordedCompaction };
  return { type: "view", view: toViewRanges({ ...extendTo(seen, position).view, branch }) };
}

/** Returns the events from before the answer; all recorded events when the answer has none yet. */
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

/** Reports whether an entry on an earlier branch, before the point where it was left, is visible on the later branches. */
function isOnBranch(branches: readonly string[], part: number, branch: string): boolean {
  return part <= branches.lastIndexOf(branch);
}

function getInheritedEnd({ id, inheritedView }: BranchNode): readonly LoopEndView[] {
  if (inheritedView === undefined) return [];
  const { position: to, view } = inheritedView;
  return [{ branch: id, to, state: { view: { branch: id, ...view }, length: to, turns: 0 } }];
}

function buildStartState(
  loop: LoopTrace,
  before: ViewState | undefined,
  ends: readonly LoopEndView[],
  earlier: readonly LoopTrace[],
  branches: readonly BranchNode[],
): ViewState {
  const { from, isFirstOfRun, readsEarlierPrunes } = loop;
  const branch = loop.branches[0] ?? "";
  const run = { length: from, turns: isFirstOfRun ? 0 : (before?.turns ?? 0) };
  const line = listAncestry(branches, branch);
  // A loop's first branch may be one that a conflict has made since, at or after its first position.
  const own = line.filter(({ until }) => until >= from).map(({ id }) => id);
  const goesOn = before !== undefined && !isFirstOfRun && before.length === from;
  if (goesOn && own.includes(before.view.branch)) return before;
  const end = line
    .map(({ id, until }) =>
      findNewestEnd(ends.filter((one) => one.branch === id && one.to <= Math.min(until, from))),
    )
    .find((one) => one !== undefined);
  if (end?.state !== undefined) {
    const { view, unrecordedCompaction } = extendTo(end.state, from);
    return {
      ...run,
      view: { ...view, branch },
      ...omitUndefined({ unrecordedCompaction }),
    };
  }
  const pruned =
    isFirstOfRun && readsEarlierPrunes && from > 0
      ? replayEarlierPrunes({ branch, from }, earlier, branches, [])
      : undefined;
  return pruned === undefined
    ? extendTo({ ...run, length: 0, view: { branch, spans: [] } }, from)
    : { ...run, view: { branch, ...pruned } };
}

/** Reports whether the loop only removes the compaction of the loops before it. */
function removesCompaction({ events: [first] }: LoopTrace): boolean {
  return first?.type === "AgentStart" && first.kind.type === "compaction" && first.kind.removes === true;
}

function buildWholeState({ branches, from }: LoopTrace): ViewState {
  return extendTo({ length: 0, turns: 0, view: { branch: branches[0] ?? "", spans: [] } }, from);
}

/** Returns the newest end; among ends at the same position, that of the loop that began last. */
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
  let { tagFading } = loop;
  return events.reduce<ViewState>((seen, body) => {
    const details = applyEvent(seen, body, {
      ranges: body.type === "CompactionEnded" ? loop.compactions[compaction++] : undefined,
      fading: tagFading,
    });
    if (body.type === "DefinitionChanged" && body.applied) tagFading = loop.updatedTagFading?.[moves++];
    if (body.type !== "RevertApplied" || !body.applied) return details;
    part += 1;
    return { ...details, view: { ...details.view, branch: loop.branches[part] ?? details.view.branch } };
  }, begun);
}

function buildLoopEnd({ branches }: LoopTrace, seen: ViewState, to: number): LoopEndView {
  const branch = branches.at(-1) ?? "";
  const isAll = seen.unrecordedCompaction === undefined && isPlainView(seen.view);
  return { branch, to, state: isAll ? undefined : { ...seen, view: resetForNextLoop(seen.view) } };
}

function resetForNextLoop(view: View): View {
  const left: ViewSnapshot = toViewSnapshot(view);
  return { branch: view.branch, ...left };
}
