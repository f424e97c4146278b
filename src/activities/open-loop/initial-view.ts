import { replayEarlierPrunes } from "../../conversation/pruning/earlier-prunes.ts";
import type { ViewSnapshot } from "../../core/view/view.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import { findLeftBranches } from "../../store/transcript/find-left-branches.ts";
import type { LoopRecord, OpenedLoop } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Conversations } from "../step/conversations.ts";

/** The dependencies of this function. */
export type InitialViewDependencies = {
  readonly transcript: Pick<Transcript, "readBranches"> & {
    readLoops(session: string): Promise<readonly Pick<LoopRecord, "loopId" | "branch">[]>;
    readEvents(loopId: string, from: number): Promise<readonly { readonly body: EventBody }[]>;
  };
  readonly conversations: Pick<Conversations, "readEntriesBefore">;
};

/** Reads the view that a run's first loop begins with: as the previous loop left it, or as events describe it. */
export async function readInitialView(
  opened: Pick<OpenedLoop, "loopId" | "branch" | "from" | "view">,
  tools: readonly Pick<Tool, "kind">[],
  session: string,
  { transcript, conversations }: InitialViewDependencies,
): Promise<ViewSnapshot | undefined> {
  const { branch, from, loopId: own } = opened;
  if (opened.view !== undefined || from === 0 || tools.every(({ kind }) => kind !== "view")) {
    return opened.view;
  }
  const branches = await transcript.readBranches(session);
  const records = (await transcript.readLoops(session)).filter(({ loopId }) => loopId !== own);
  const loops = await Promise.all(
    records.map(async (record) => {
      const events = (await transcript.readEvents(record.loopId, 0)).map(({ body }) => body);
      return { branches: [...findLeftBranches(branches, record.branch, events), record.branch], events };
    }),
  );
  return replayEarlierPrunes(
    opened,
    loops,
    branches,
    await conversations.readEntriesBefore(session, branch, from),
  );
}
