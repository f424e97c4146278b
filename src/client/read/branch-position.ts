import type { BranchPosition, InvalidPosition } from "../../store/transcript/fork.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { findTurnOnLine, type LoopTurn, readLoopAnswers } from "./line-turns.ts";
import type { PastAnswer } from "./list-past-answers.ts";

/** A position in a session's conversation, as a user specifies it. By default, the end of the head. */
export type PositionOptions = {
  /** The number of messages before the position: what `show` prints for the first message after it. */
  readonly at?: number;
  /**
   * A turn, counted from 0, in the loop that `loop` specifies. Without `loop`, a turn on the head's line, where a loop that
   * began in place of a turn continues its numbering; `request` counts in the same way.
   */
  readonly turn?: number;
  /** The loop's id. For a turn, the last loop before the head by default. */
  readonly loop?: string;
  /** The session's head by default. The position is the branch's end, unless `at` specifies another one. */
  readonly branch?: string;
};

type PositionReader = {
  readonly transcript: Transcript;
  readonly session: string;
  readonly head: string;
  /** The last loop before the head. */
  readonly last: string | undefined;
};

export function createPositionReader(
  transcript: Transcript,
  { id, headBranch, lastLoopId }: SessionRecord,
): PositionReader {
  return { transcript, session: id, head: headBranch, last: lastLoopId };
}

/** Returns the position after a turn's answer and results, or after a whole loop. */
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
 * Returns the position before a turn's answer, or before a loop's prompts, for a replacement. At a loop's first turn,
 * another prompt also replaces the prompts of the loop.
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
        `${problem.length} messages on its branch ${problem.branch}, and no position after them`,
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
    throw new HoldfastError("input-invalid", "Specify either a position or a turn of a loop, not both.", {
      session,
    });
  }
  if (branch !== undefined && (turn !== undefined || loop !== undefined)) {
    throw new HoldfastError(
      "input-invalid",
      "Do not specify a branch with a loop or a turn: they determine it.",
      {
        session,
      },
    );
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
  const match = loops.find(({ loopId }) => loopId === (loop ?? last));
  const found = loop === undefined ? (match ?? findNewestLoop(loops)) : match;
  if (found !== undefined) return found;
  const names = loops.map(({ loopId }) => loopId).join(", ");
  throw createInvalidPositionError(session, `no loop ${loop ?? ""}; it has ${names === "" ? "none" : names}`);
}

/** Finds a turn. Without a loop, it is a turn on the line that the head is on. */
async function findTurn(reader: PositionReader, loop: string | undefined, turn: number): Promise<LoopTurn> {
  const record = await findLoop(reader, loop);
  return loop === undefined ? await findTurnOnLine(reader, record, turn) : { record, turn };
}

/** Returns where a loop ends. An interrupted loop ends where the next one begins. */
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
