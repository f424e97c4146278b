import { z } from "zod";
import type { BranchPosition, InvalidPosition } from "../../store/transcript/fork.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { checkOption } from "../runs/check-option.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { findTurnOnLine, type LoopTurn, readLoopAnswers } from "./line-turns.ts";
import type { PastAnswer } from "./list-past-answers.ts";

/**
 * A position in a session's conversation, as a user specifies it: one of `at`, `beforeTurn`, `afterTurn`, `beforeLoop` and
 * `afterLoop`; by default, the end of the head.
 */
export type PositionOptions = {
  /** The number of messages before the position: what `show` prints for the first message after it. */
  readonly at?: number;
  /** Before the answer of this turn, counted from 0: the context that the model had for it. */
  readonly beforeTurn?: number;
  /** After this turn, counted from 0: its answer and tool results included. */
  readonly afterTurn?: number;
  /**
   * The id of the loop in which turns are counted. By default, turns are those on the head's line, where a loop that began
   * in place of a turn continues its numbering; `request` counts in the same way.
   */
  readonly loop?: string;
  /** Before the prompts of the loop with this id. */
  readonly beforeLoop?: string;
  /** After the loop with this id. */
  readonly afterLoop?: string;
  /** The session's head by default. The position is the branch's end, unless `at` specifies another one. */
  readonly branch?: string;
};

const text = z.string().optional();
const count = z.number().int().nonnegative().optional();
const Position = z.strictObject({
  ...{ at: count, beforeTurn: count, afterTurn: count },
  ...{ loop: text, beforeLoop: text, afterLoop: text, branch: text },
});

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

/**
 * Returns the position that a user specifies.
 *
 * @param replacesPrompts - Whether another prompt begins there: before the first turn of a loop, it also replaces the loop's
 * prompts.
 */
export async function findPosition(
  reader: PositionReader,
  options: PositionOptions,
  replacesPrompts = false,
): Promise<BranchPosition> {
  checkPositionOptions(reader.session, options);
  const { at, beforeTurn, afterTurn, loop, beforeLoop, afterLoop, branch = reader.head } = options;
  if (beforeLoop !== undefined) {
    const { branch: ofLoop, from } = await findLoop(reader, beforeLoop);
    return { branch: ofLoop, position: from };
  }
  if (afterLoop !== undefined) return await findLoopEnd(reader, await findLoop(reader, afterLoop));
  if (afterTurn !== undefined) return await findTurnEnd(reader, await findTurn(reader, loop, afterTurn));
  if (beforeTurn !== undefined) {
    return await findTurnStart(reader, await findTurn(reader, loop, beforeTurn), replacesPrompts);
  }
  return { branch, position: at ?? (await reader.transcript.countEntries(reader.session, branch)) };
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

function checkPositionOptions(session: string, options: PositionOptions): void {
  checkOption(Position, options, "position");
  const { loop, branch, ...positions } = options;
  const given = Object.entries(positions).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const isTurn = given.includes("beforeTurn") || given.includes("afterTurn");
  const problem =
    given.length > 1
      ? `${given.join(" and ")} are different positions. Specify one of them`
      : loop !== undefined && !isTurn
        ? "loop says where turns are counted. Specify it with beforeTurn or afterTurn; or specify beforeLoop or afterLoop"
        : branch !== undefined && given.length > 0 && !given.includes("at")
          ? `Do not specify a branch with ${given.join("")}, which determines it`
          : undefined;
  if (problem !== undefined) throw new HoldfastError("input-invalid", `${problem}.`, { session });
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

async function findTurnStart(
  reader: PositionReader,
  turn: LoopTurn,
  replacesPrompts: boolean,
): Promise<BranchPosition> {
  const { record } = turn;
  const { branch, position } = await findAnswer(reader, turn);
  if (!replacesPrompts) return { branch, position };
  const before = await reader.transcript.readEntries(reader.session, branch, record.from, position);
  const isFirst = before.every(({ message }) => message.role === "user");
  return { branch, position: isFirst ? record.from : position };
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
