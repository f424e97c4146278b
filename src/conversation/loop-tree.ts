import { addUsage, NO_USAGE } from "../core/budget/usage.ts";
import type { Usage } from "../schema/message.ts";
import type { ContinuationKind } from "../schema/record.ts";

// The loops of a session as a tree, by the parent that each names (SES-08, SES-09). Of loops that an evaluation has run
// side by side, one was chosen: what came behind it goes back to that one.

/** A loop, as far as its place in the tree hangs on it. */
export type TreeLoop = {
  readonly loopId: string;
  readonly session: string;
  readonly parentLoopId?: string | undefined;
  readonly kind: ContinuationKind;
  readonly usage?: Usage | undefined;
  /** The evaluation that it is one of. */
  readonly evaluation?: string | undefined;
  readonly parallel?: { readonly isSelected: boolean } | undefined;
};

/** `prompted`: a later prompt of the session opened it. */
export type LoopOrigin = "fresh" | "sub-agent" | "prompted" | Exclude<ContinuationKind["type"], "initial">;

/** How a loop came to be, told from its fields alone. */
export function getLoopOrigin({ kind, parentLoopId, session }: TreeLoop): LoopOrigin {
  if (kind.type !== "initial") return kind.type;
  if (parentLoopId === undefined) return "fresh";
  return isLoopOfSession(session, parentLoopId) ? "prompted" : "sub-agent";
}

/** Whether a loop's id is one of a session's: `{session}.{segment}.{N}`. Ids of sub-agents begin with their caller's. */
function isLoopOfSession(session: string, loopId: string): boolean {
  return loopId.startsWith(`${session}.`);
}

/** Those whose parent is none of these loops, in order of start. */
export function findRootLoops<Loop extends TreeLoop>(loops: readonly Loop[]): readonly Loop[] {
  const known = new Set(loops.map(({ loopId }) => loopId));
  return loops.filter(({ parentLoopId }) => parentLoopId === undefined || !known.has(parentLoopId));
}

export function findChildren<Loop extends TreeLoop>(loops: readonly Loop[], loopId: string): readonly Loop[] {
  return loops.filter(({ parentLoopId }) => parentLoopId === loopId);
}

/** The branches of the evaluation that a loop is a branch of, itself included; none of any other loop. */
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

export function findLoop<Loop extends TreeLoop>(loops: readonly Loop[], loopId: string): Loop | undefined {
  return loops.find((loop) => loop.loopId === loopId);
}

/** Of all loops that are over, those that nobody chose included. */
export function sumUsage(loops: readonly TreeLoop[]): Usage {
  return loops.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE);
}

/** From the root down to a loop, which is the last; what an evaluation has not chosen stands on no way but its own. */
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

/** The loop itself, or the one of its siblings that the session went on with. */
function findSelectedSibling<Loop extends TreeLoop>(
  loops: readonly Loop[],
  loopId: string,
): Loop | undefined {
  const loop = findLoop(loops, loopId);
  if (loop?.parallel?.isSelected !== false) return loop;
  return findParallelSiblings(loops, loopId).find(({ parallel }) => parallel?.isSelected === true) ?? loop;
}
