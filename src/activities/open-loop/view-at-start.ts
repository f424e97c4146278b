import { prunedBefore } from "../../conversation/pruning/pruned-before.ts";
import type { LeftView } from "../../core/view/view.ts";
import type { EventBody } from "../../schema/record.ts";
import { leftBranches } from "../../store/transcript/left-branches.ts";
import type { LoopOpened, LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Conversations } from "../step/conversations.ts";

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
  tools: readonly Pick<Tool, "kind">[],
  session: string,
  { transcript, conversations }: PrunedWorld,
): Promise<LeftView | undefined> {
  const { branch, from, loopId: own } = opened;
  if (opened.view !== undefined || from === 0 || tools.every(({ kind }) => kind !== "view")) {
    return opened.view;
  }
  const branches = await transcript.branches(session);
  const records = (await transcript.loops(session)).filter(({ loopId }) => loopId !== own);
  const loops = await Promise.all(
    records.map(async (record) => {
      const events = (await transcript.events(record.loopId, 0)).map(({ body }) => body);
      return { branches: [...leftBranches(branches, record.branch, events), record.branch], events };
    }),
  );
  return prunedBefore(opened, loops, branches, await conversations.before(session, branch, from));
}
