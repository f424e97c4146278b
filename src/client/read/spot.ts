import type { NoSpot, Spot } from "../../store/transcript/fork.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../error.ts";
import { newestLoop } from "../runs/newest-loop.ts";
import { type LoopTurn, loopAnswers, turnOnLine } from "./line-turns.ts";
import type { PastAnswer } from "./past-answers.ts";

/** A place of a session's conversation, as people name it; the head's end when nothing is said. */
export type PlaceOptions = {
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

type Asked = {
  readonly transcript: Transcript;
  readonly session: string;
  readonly head: string;
  /** The loop that the head stands behind. */
  readonly last: string | undefined;
};

export function askedOf(transcript: Transcript, { id, headBranch, lastLoopId }: SessionRecord): Asked {
  return { transcript, session: id, head: headBranch, last: lastLoopId };
}

/** Behind what is named: with a turn's answer and results, with all of a loop. */
export async function spotBehind(asked: Asked, place: PlaceOptions): Promise<Spot> {
  const { turn, loop } = checked(asked.session, place);
  if (turn === undefined && loop === undefined) return await namedSpot(asked, place);
  if (turn === undefined) return await endOf(asked, await loopOf(asked, loop));
  return await behindTurn(asked, await namedTurn(asked, loop, turn));
}

/**
 * In place of what is named: before a turn's answer, or before a loop's prompts. Another prompt also takes the place of
 * the words that a loop's first turn was asked with.
 */
export async function spotInstead(asked: Asked, place: PlaceOptions, prompted: boolean): Promise<Spot> {
  const { turn, loop } = checked(asked.session, place);
  if (turn === undefined && loop === undefined) return await namedSpot(asked, place);
  if (turn === undefined) {
    const { branch, from } = await loopOf(asked, loop);
    return { branch, position: from };
  }
  const named = await namedTurn(asked, loop, turn);
  const { record } = named;
  const { branch, position } = await answerOf(asked, named);
  if (!prompted) return { branch, position };
  const before = await asked.transcript.entries(asked.session, branch, record.from, position);
  const isFirst = before.every(({ message }) => message.role === "user");
  return { branch, position: isFirst ? record.from : position };
}

export function noSpot(session: string, problem: NoSpot): HoldfastError {
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
      return invalid(session, `no branch ${problem.branch}; it has ${problem.branches.join(", ")}`);
    case "no-position":
      return invalid(
        session,
        `${problem.length} messages on its branch ${problem.branch}, and no place behind more`,
      );
  }
}

function checked(session: string, place: PlaceOptions): PlaceOptions {
  const { at, turn, loop, branch } = place;
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
  return place;
}

async function namedSpot(
  { transcript, session, head }: Asked,
  { at, branch = head }: PlaceOptions,
): Promise<Spot> {
  return { branch, position: at ?? (await transcript.length(session, branch)) };
}

async function loopOf({ transcript, session, last }: Asked, loop: string | undefined): Promise<LoopRecord> {
  const loops = await transcript.loops(session);
  const named = loops.find(({ loopId }) => loopId === (loop ?? last));
  const found = loop === undefined ? (named ?? newestLoop(loops)) : named;
  if (found !== undefined) return found;
  const names = loops.map(({ loopId }) => loopId).join(", ");
  throw invalid(session, `no loop ${loop ?? ""}; it has ${names === "" ? "none" : names}`);
}

/** Without a loop, a turn is one of the line that the head stands on. */
async function namedTurn(asked: Asked, loop: string | undefined, turn: number): Promise<LoopTurn> {
  const record = await loopOf(asked, loop);
  return loop === undefined ? await turnOnLine(asked, record, turn) : { record, turn };
}

/** Of a loop that was cut off: what it has written before the next one began there. */
async function endOf({ transcript, session }: Asked, { loopId, branch, from }: LoopRecord): Promise<Spot> {
  const events = await transcript.events(loopId, 0);
  const end = events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (end?.type === "AgentEnd") return { branch, position: end.to };
  const next = (await transcript.loops(session)).filter((one) => one.branch === branch && one.from > from);
  const length = await transcript.length(session, branch);
  return { branch, position: Math.min(length, ...next.map((one) => one.from)) };
}

async function behindTurn(asked: Asked, named: LoopTurn): Promise<Spot> {
  const { branch, position } = await answerOf(asked, named);
  const page = 64;
  for (let from = position + 1; ; from += page) {
    const entries = await asked.transcript.entries(asked.session, branch, from, from + page);
    const other = entries.find(({ message }) => message.role !== "toolResult");
    if (other !== undefined) return { branch, position: other.position };
    if (entries.length < page) return { branch, position: from + entries.length };
  }
}

async function answerOf(asked: Asked, { record, turn }: LoopTurn): Promise<PastAnswer> {
  const answers = await loopAnswers(asked, record);
  const found = answers.findLast((one) => one.turn === turn);
  if (found !== undefined) return found;
  const turns = new Set(answers.map((one) => one.turn)).size;
  throw invalid(
    asked.session,
    `no answer ${turn} in ${record.loopId}: ${turns} of its turns have one, from 0`,
  );
}

function invalid(session: string, what: string): HoldfastError {
  return new HoldfastError("input-invalid", `Session ${session} has ${what}.`, { session });
}
