import { leftBranches } from "../../store/transcript/left-branches.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { answersOf, type PastAnswer } from "./past-answers.ts";

// A turn that is named without its loop. A loop that begins in place of another's turn counts on from there: turn 1 is
// the same place of the conversation before and after somebody has branched off there, wherever the head has moved.

type Asked = { readonly transcript: Transcript; readonly session: string };

export type LoopTurn = { readonly record: LoopRecord; readonly turn: number };

/** The loop that a turn of the line belongs to which ends with a loop, and the turn's number in it. */
export async function turnOnLine(asked: Asked, record: LoopRecord, turn: number): Promise<LoopTurn> {
  const before = await replacedBy(asked, record);
  if (before === undefined) return { record, turn };
  const first = await numberOnLine(asked, before);
  return turn >= first ? { record, turn: turn - first } : await turnOnLine(asked, before.record, turn);
}

async function numberOnLine(asked: Asked, { record, turn }: LoopTurn): Promise<number> {
  const before = await replacedBy(asked, record);
  return before === undefined ? turn : turn + (await numberOnLine(asked, before));
}

/** The turn in whose place, or behind whose beginning, a loop of kind `branch` begins. Nothing for one that begins elsewhere. */
async function replacedBy(asked: Asked, record: LoopRecord): Promise<LoopTurn | undefined> {
  if (record.kind.type !== "branch") return undefined;
  const { transcript, session } = asked;
  const place = (await transcript.branches(session)).find(({ id }) => id === record.branch)?.parent;
  if (place === undefined) return undefined;
  const loops = await transcript.loops(session);
  const older = loops.slice(
    0,
    loops.findIndex(({ loopId }) => loopId === record.loopId),
  );
  for (const loop of older.reverse()) {
    if (loop.from > place.position) continue;
    const answers = (await loopAnswers(asked, loop)).filter(({ branch }) => branch === place.branch);
    const next = answers.find(({ position }) => position >= place.position);
    if (next === undefined) continue;
    // Where a loop's own prompt is replaced, the line begins anew.
    if (next.position === place.position || loop.from < place.position)
      return { record: loop, turn: next.turn };
  }
  return undefined;
}

/** All answers of a loop, those too that its model has left by going back. */
export async function loopAnswers(
  { transcript, session }: Asked,
  { loopId, branch, from }: LoopRecord,
): Promise<readonly PastAnswer[]> {
  const events = (await transcript.events(loopId, 0)).map(({ body }) => body);
  const branches = [...leftBranches(await transcript.branches(session), branch, events), branch];
  const read = (one: string, start: number) =>
    transcript.entries(session, one, start, Number.MAX_SAFE_INTEGER);
  return await answersOf({ branches, events, from }, loopId, read);
}
