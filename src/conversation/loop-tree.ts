import { addUsage, NO_USAGE } from "../core/budget/usage.ts";
import type { Usage } from "../schema/message.ts";
import type { ContinuationKind } from "../schema/record.ts";

// The loops of a session as a tree, by the parent of each (SES-08, SES-09). Of the loops that an evaluation has run side
// by side, one was chosen: later loops continue from that one.

/** The fields of a loop that determine its position in the tree. */
export type TreeLoop = {
  readonly loopId: string;
  readonly session: string;
  readonly parentLoopId?: string | undefined;
  /** How the loop continues its parent. */
  readonly kind: ContinuationKind;
  readonly usage?: Usage | undefined;
  /** The evaluation that the loop is a branch of. */
  readonly evaluation?: string | undefined;
  /** Present on a branch of an evaluation. */
  readonly parallel?:
    | {
        /** Whether the evaluation has chosen this branch. */
        readonly isSelected: boolean;
      }
    | undefined;
};

/** `prompted`: a later prompt of the session opened it. */
export type LoopOrigin = "fresh" | "sub-agent" | "prompted" | Exclude<ContinuationKind["type"], "initial">;

/** Returns how a loop began, from its fields alone. */
export function getLoopOrigin({ kind, parentLoopId, session }: TreeLoop): LoopOrigin {
  if (kind.type !== "initial") return kind.type;
  if (parentLoopId === undefined) return "fresh";
  return isLoopOfSession(session, parentLoopId) ? "prompted" : "sub-agent";
}

/** Reports whether a loop's id is one of a session's: `{session}.{segment}.{N}`. Sub-agents' ids begin with the caller's. */
function isLoopOfSession(session: string, loopId: string): boolean {
  return loopId.startsWith(`${session}.`);
}

/** Returns the loops whose parent is none of these loops, in order of start. */
export function findRootLoops<Loop extends TreeLoop>(loops: readonly Loop[]): readonly Loop[] {
  const known = new Set(loops.map(({ loopId }) => loopId));
  return loops.filter(({ parentLoopId }) => parentLoopId === undefined || !known.has(parentLoopId));
}

/** Returns the loops whose parent is this loop, in the given order. */
export function findChildren<Loop extends TreeLoop>(loops: readonly Loop[], loopId: string): readonly Loop[] {
  return loops.filter(({ parentLoopId }) => parentLoopId === loopId);
}

/** Returns the branches of the loop's evaluation, including the loop itself; none for other loops. */
export function findParallelSiblings<Loop extends TreeLoop>(
  loops: readonly Loop[],
  loopId: string,
): readonly Loop[] {
  const group = findLoop(loops, loopId);
  if (group?.parallel === undefined) return [];
  return loops.filter(
    ({ evaluation, parallel }) => evaluation === group.evaluation && parallel !== undefined,
  );
}

/** Returns the loop with this id; `undefined` if it is not among them. */
export function findLoop<Loop extends TreeLoop>(loops: readonly Loop[], loopId: string): Loop | undefined {
  return loops.find((loop) => loop.loopId === loopId);
}

/** Sums the usage of all ended loops, including branches that were not chosen. */
export function sumUsage(loops: readonly TreeLoop[]): Usage {
  return loops.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE);
}

/** Returns the path from the root to a loop, which is last. A branch that was not chosen is only on its own path. */
export function buildLoopChain<Loop extends TreeLoop>(
  loops: readonly Loop[],
  loopId: string,
): readonly Loop[] {
  const chain: Loop[] = [];
  for (
    let loop = findLoop(loops, loopId);
    loop !== undefined && !chain.includes(loop);
    loop = loop.parentLoopId === undefined ? undefined : findSelectedSibling(loops, loop.parentLoopId)
  ) {
    chain.unshift(loop);
  }
  return chain;
}

/** Returns the loop itself, or the sibling with which the session continued. */
function findSelectedSibling<Loop extends TreeLoop>(
  loops: readonly Loop[],
  loopId: string,
): Loop | undefined {
  const loop = findLoop(loops, loopId);
  if (loop?.parallel?.isSelected !== false) return loop;
  return findParallelSiblings(loops, loopId).find(({ parallel }) => parallel?.isSelected === true) ?? loop;
}
