import { findLeftBranches } from "../../store/transcript/find-left-branches.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { listPastAnswers, type PastAnswer } from "./list-past-answers.ts";

// Turns specified without a loop. A loop that begins in place of another one's turn continues its numbering: turn 1 is
// the same position of the conversation before and after a branch begins there, wherever the head has moved.

type SessionReader = { readonly transcript: Transcript; readonly session: string };

export type LoopTurn = { readonly record: LoopRecord; readonly turn: number };

/** Finds the loop of a turn on the line that ends with the given loop, and the turn's number in that loop. */
export async function findTurnOnLine(
  reader: SessionReader,
  record: LoopRecord,
  turn: number,
): Promise<LoopTurn> {
  const before = await findReplacedTurn(reader, record);
  if (before === undefined) return { record, turn };
  const first = await getTurnNumberOnLine(reader, before);
  return turn >= first ? { record, turn: turn - first } : await findTurnOnLine(reader, before.record, turn);
}

async function getTurnNumberOnLine(reader: SessionReader, { record, turn }: LoopTurn): Promise<number> {
  const before = await findReplacedTurn(reader, record);
  return before === undefined ? turn : turn + (await getTurnNumberOnLine(reader, before));
}

/** Finds the turn that a loop of kind `branch` replaces, or after whose start it begins. Nothing if it begins elsewhere. */
async function findReplacedTurn(reader: SessionReader, record: LoopRecord): Promise<LoopTurn | undefined> {
  if (record.kind.type !== "branch") return undefined;
  const { transcript, session } = reader;
  const branchStart = (await transcript.readBranches(session)).find(({ id }) => id === record.branch)?.parent;
  if (branchStart === undefined) return undefined;
  const loops = await transcript.readLoops(session);
  const older = loops.slice(
    0,
    loops.findIndex(({ loopId }) => loopId === record.loopId),
  );
  for (const loop of older.reverse()) {
    if (loop.from > branchStart.position) continue;
    const answers = (await readLoopAnswers(reader, loop)).filter(
      ({ branch }) => branch === branchStart.branch,
    );
    const next = answers.find(({ position }) => position >= branchStart.position);
    if (next === undefined) continue;
    // Where a loop's own prompt is replaced, the line starts again.
    if (next.position === branchStart.position || loop.from < branchStart.position)
      return { record: loop, turn: next.turn };
  }
  return undefined;
}

/** Reads all answers of a loop, also those that its model has left by a revert. */
export async function readLoopAnswers(
  { transcript, session }: SessionReader,
  { loopId, branch, from }: LoopRecord,
): Promise<readonly PastAnswer[]> {
  const events = (await transcript.readEvents(loopId, 0)).map(({ body }) => body);
  const branches = [...findLeftBranches(await transcript.readBranches(session), branch, events), branch];
  const read = (one: string, start: number) =>
    transcript.readEntries(session, one, start, Number.MAX_SAFE_INTEGER);
  return await listPastAnswers({ branches, events, from }, loopId, read);
}
