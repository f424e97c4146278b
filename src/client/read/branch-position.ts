import type { BranchPosition, InvalidPosition } from "../../store/transcript/fork.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { findTurnOnLine, type LoopTurn, readLoopAnswers } from "./line-turns.ts";
import type { PastAnswer } from "./list-past-answers.ts";

/** A place of a session's conversation, as people name it; the head's end when nothing is said. */
export type PositionOptions = {
  /** Behind so many messages: the position that `show` prints of the first one that is left out. */
  readonly at?: number;
  /**
   * A turn, counted from 0: in its loop where `loop` names one. Else on the line that the head stands on, where a loop
   * that began in place of a turn counts on from it; `request` counts alike.
   */
  readonly turn?: number;
  /** The loop's id; of a turn, the one that the head stands behind by default. */
  readonly loop?: string;
  /** The session's head unless said. Its end, unless `at` says where. */
  readonly branch?: string;
};

type PositionReader = {
  readonly transcript: Transcript;
  readonly session: string;
  readonly head: string;
  /** The loop that the head stands behind. */
  readonly last: string | undefined;
};

export function createPositionReader(
  transcript: Transcript,
  { id, headBranch, lastLoopId }: SessionRecord,
): PositionReader {
  return { transcript, session: id, head: headBranch, last: lastLoopId };
}

/** Behind what is named: with a turn's answer and results, with all of a loop. */
export async function findPositionAfter(
  reader: PositionReader,
  options: PositionOptions,
): Promise<BranchPosition> {
  const { turn, loop } = checkPositionOptions(reader.session, options);
  if (turn === undefined && loop === undefined) return await findNamedPosition(reader, options);
  if (turn === undefined) return await findLoopEnd(reader, await findLoop(reader, loop));
  return await findTurnEnd(reader, await findTurn(reader, loop, turn));
}

/**
 * In place of what is named: before a turn's answer, or before a loop's prompts. Another prompt also takes the place of
 * the words that a loop's first turn was asked with.
 */
export async function findReplacementPosition(
  reader: PositionReader,
  options: PositionOptions,
  replacesPrompts: boolean,
): Promise<BranchPosition> {
  const { turn, loop } = checkPositionOptions(reader.session, options);
  if (turn === undefined && loop === undefined) return await findNamedPosition(reader, options);
  if (turn === undefined) {
    const { branch, from } = await findLoop(reader, loop);
    return { branch, position: from };
  }
  const turnRecord = await findTurn(reader, loop, turn);
  const { record } = turnRecord;
  const { branch, position } = await findAnswer(reader, turnRecord);
  if (!replacesPrompts) return { branch, position };
  const before = await reader.transcript.readEntries(reader.session, branch, record.from, position);
  const isFirst = before.every(({ message }) => message.role === "user");
  return { branch, position: isFirst ? record.from : position };
}

export function createPositionError(session: string, problem: InvalidPosition): HoldfastError {
  switch (problem.type) {
    case "no-session":
      return new HoldfastError(
        "session-unknown",
        `The transcript of this machine has no session ${session}.`,
        {
          session,
        },
      );
    case "no-branch":
      return createInvalidPositionError(
        session,
        `no branch ${problem.branch}; it has ${problem.branches.join(", ")}`,
      );
    case "no-position":
      return createInvalidPositionError(
        session,
        `${problem.length} messages on its branch ${problem.branch}, and no place behind more`,
      );
  }
}

function checkPositionOptions(session: string, options: PositionOptions): PositionOptions {
  const { at, turn, loop, branch } = options;
  for (const [name, number] of [
    ["at", at],
    ["turn", turn],
  ] as const) {
    if (number === undefined || (Number.isInteger(number) && number >= 0)) continue;
    throw new HoldfastError("input-invalid", `${name} is ${number}; it must be a whole number from 0.`, {
      session,
    });
  }
  if (at !== undefined && (turn !== undefined || loop !== undefined)) {
    throw new HoldfastError("input-invalid", "A place is a position or a turn of a loop, not both.", {
      session,
    });
  }
  if (branch !== undefined && (turn !== undefined || loop !== undefined)) {
    throw new HoldfastError("input-invalid", "A loop and its turns say their branch themselves.", {
      session,
    });
  }
  return options;
}

async function findNamedPosition(
  { transcript, session, head }: PositionReader,
  { at, branch = head }: PositionOptions,
): Promise<BranchPosition> {
  return { branch, position: at ?? (await transcript.countEntries(session, branch)) };
}

async function findLoop(
  { transcript, session, last }: PositionReader,
  loop: string | undefined,
): Promise<LoopRecord> {
  const loops = await transcript.readLoops(session);
  const candidates = loops.find(({ loopId }) => loopId === (loop ?? last));
  const found = loop === undefined ? (candidates ?? findNewestLoop(loops)) : candidates;
  if (found !== undefined) return found;
  const names = loops.map(({ loopId }) => loopId).join(", ");
  throw createInvalidPositionError(session, `no loop ${loop ?? ""}; it has ${names === "" ? "none" : names}`);
}

/** Without a loop, a turn is one of the line that the head stands on. */
async function findTurn(reader: PositionReader, loop: string | undefined, turn: number): Promise<LoopTurn> {
  const record = await findLoop(reader, loop);
  return loop === undefined ? await findTurnOnLine(reader, record, turn) : { record, turn };
}

/** Of a loop that was cut off: what it has written before the next one began there. */
async function findLoopEnd(
  { transcript, session }: PositionReader,
  { loopId, branch, from }: LoopRecord,
): Promise<BranchPosition> {
  const events = await transcript.readEvents(loopId, 0);
  const end = events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (end?.type === "AgentEnd") return { branch, position: end.to };
  const next = (await transcript.readLoops(session)).filter(
    (one) => one.branch === branch && one.from > from,
  );
  const length = await transcript.countEntries(session, branch);
  return { branch, position: Math.min(length, ...next.map((one) => one.from)) };
}

async function findTurnEnd(reader: PositionReader, turn: LoopTurn): Promise<BranchPosition> {
  const { branch, position } = await findAnswer(reader, turn);
  const page = 64;
  for (let from = position + 1; ; from += page) {
    const entries = await reader.transcript.readEntries(reader.session, branch, from, from + page);
    const other = entries.find(({ message }) => message.role !== "toolResult");
    if (other !== undefined) return { branch, position: other.position };
    if (entries.length < page) return { branch, position: from + entries.length };
  }
}

async function findAnswer(reader: PositionReader, { record, turn }: LoopTurn): Promise<PastAnswer> {
  const answers = await readLoopAnswers(reader, record);
  const found = answers.findLast((one) => one.turn === turn);
  if (found !== undefined) return found;
  const turns = new Set(answers.map((one) => one.turn)).size;
  throw createInvalidPositionError(
    reader.session,
    `no answer ${turn} in ${record.loopId}: ${turns} of its turns have one, from 0`,
  );
}

function createInvalidPositionError(session: string, description: string): HoldfastError {
  return new HoldfastError("input-invalid", `Session ${session} has ${description}.`, { session });
}
