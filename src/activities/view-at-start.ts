import { tokensOf } from "../core/choose-prune.ts";
import { NOTHING_PRUNED, type PrunedState, replayPruned, upTo } from "../core/replay-view.ts";
import type { LeftView, Span } from "../core/view.ts";
import type { Entry, EventBody } from "../schema/record.ts";
import type { Tool } from "../tools/tool.ts";
import { leftBranches } from "../transcript/left-branches.ts";
import type { LoopOpened, LoopRecord } from "../transcript/loop.ts";
import type { BranchRecord } from "../transcript/session.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Conversations } from "./conversations.ts";

/** All that this needs of the world. */
export type PrunedWorld = {
  readonly transcript: Pick<Transcript, "branches"> & {
    loops(session: string): Promise<readonly Pick<LoopRecord, "loopId" | "branch">[]>;
    events(loopId: string, from: number): Promise<readonly { readonly body: EventBody }[]>;
  };
  readonly conversations: Pick<Conversations, "before">;
};

/** What a run's first loop begins with of the view: as the loop before it has left it, or as events say. */
export async function viewAtStart(
  opened: Pick<LoopOpened, "loopId" | "branch" | "from" | "view">,
  tools: readonly Pick<Tool, "view">[],
  session: string,
  world: PrunedWorld,
): Promise<LeftView | undefined> {
  if (opened.view !== undefined || tools.every(({ view }) => view === undefined)) return opened.view;
  return await prunedBefore(opened, session, world);
}

/**
 * What earlier runs of a session have left of what stands before a loop, by the events that they recorded (PRUN-07): for
 * loops that were never closed, and so have left no view. Nothing where none has pruned.
 */
async function prunedBefore(
  { loopId, branch, from }: Pick<LoopOpened, "loopId" | "branch" | "from">,
  session: string,
  { transcript, conversations }: PrunedWorld,
): Promise<LeftView | undefined> {
  if (from === 0) return undefined;
  const branches = await transcript.branches(session);
  const line = lineOf(branches, branch);
  let state = NOTHING_PRUNED;
  for (const loop of await transcript.loops(session)) {
    const end = line.get(loop.branch);
    // What was pruned on another branch was pruned for that one.
    if (end === undefined || loop.loopId === loopId) continue;
    const events = (await transcript.events(loop.loopId, 0)).map(({ body }) => body);
    const replayed = replayPruned(events, leftBranches(branches, loop.branch, events), state);
    state = upTo(replayed, end, loop.branch);
  }
  state = upTo(state, from, undefined);
  const { pruned, tags } = state;
  if (pruned.length === 0 && tags.length === 0) return undefined;
  const spans = spansOf(state, from, await conversations.before(session, branch, from));
  const aged = tags.map((tag) => ({ ...tag, madeAt: 0 }));
  return { spans, ...(aged.length === 0 ? {} : { tags: aged }) };
}

/** Where each branch is left for the next on the way to this one. */
function lineOf(branches: readonly BranchRecord[], id: string): ReadonlyMap<string, number> {
  const line = new Map([[id, Number.POSITIVE_INFINITY]]);
  let parent = branches.find((one) => one.id === id)?.parent;
  while (parent !== undefined) {
    const { branch, position } = parent;
    line.set(branch, position);
    parent = branches.find((one) => one.id === branch)?.parent;
  }
  return line;
}

function spansOf({ pruned, memos }: PrunedState, from: number, entries: readonly Entry[]): readonly Span[] {
  const borders = [0, from, ...pruned.flatMap((one) => [one.from, one.to]), ...memos.map(({ at }) => at)];
  const edges = [...new Set(borders)].sort((one, other) => one - other);
  return edges.slice(0, -1).map((edge, index): Span => {
    const words = pruned.some((one) => edge >= one.from && edge < one.to);
    const own = memos.filter(({ at }) => at === edge).map(({ at: _, ...memo }) => memo);
    const to = edges[index + 1] as number;
    const span: Span = { from: edge, to, turns: 1, tokens: 0, ...(words ? { words } : {}) };
    const ofMemos = own.reduce((sum, { tokens }) => sum + tokens, 0);
    return {
      ...span,
      tokens: tokensOf(span, entries) + ofMemos,
      ...(own.length === 0 ? {} : { memos: own }),
    };
  });
}
