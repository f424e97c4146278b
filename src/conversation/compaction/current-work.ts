import type { AssistantMessage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { isSent } from "../message-visibility.ts";
import { isUserText } from "./clip.ts";
import { groupLoops, groupTurns, type Turn } from "./turns.ts";

// What the next request answers: the user messages of the running loop, and results that no answer has read.

export type CurrentWork = {
  /** Earlier loops, oldest first. */
  readonly older: readonly (readonly Turn[])[];
  /** The turns of the running loop, and of the loops that it continues without a new message. */
  readonly turns: readonly Turn[];
  /** How many of its last turns contain what the model has not read. */
  readonly unreadCount: number;
};

export function findCurrentWork(entries: readonly Entry[]): CurrentWork {
  const loops = joinContinuedLoops(groupLoops(groupTurns(entries)));
  const turns = loops.at(-1) ?? [];
  return { older: loops.slice(0, -1), turns, unreadCount: countUnreadTurns(turns) };
}

/** Joins loops: a loop that continues unanswered messages also answers the messages of the loop before it. */
function joinContinuedLoops(loops: readonly (readonly Turn[])[]): readonly (readonly Turn[])[] {
  const joined: Turn[][] = [];
  for (const turns of loops) {
    const last = joined.at(-1);
    if (last === undefined || startsNewWork(turns, last)) joined.push([...turns]);
    else last.push(...turns);
  }
  return joined;
}

/** Reports whether turns begin with a prompt, or with other messages after a last answer. */
function startsNewWork(turns: readonly Turn[], before: readonly Turn[]): boolean {
  const entries = turns.flatMap((turn) => turn.entries);
  const answer = entries.findIndex(isAnswer);
  const userEntries = (answer < 0 ? entries : entries.slice(0, answer)).filter(isUserText);
  if (userEntries.some(({ origin }) => origin === "prompt")) return true;
  return userEntries.length > 0 && isAnswered(before);
}

function isAnswered(turns: readonly Turn[]): boolean {
  const entries = turns.flatMap((turn) => turn.entries);
  const last = entries.findLast((entry) => isAnswer(entry) || isUserText(entry))?.message;
  return last?.role === "assistant" && !hasCalls(last);
}

/** Counts the turns from the newest answer on if it has calls, otherwise from the first turn after it. */
function countUnreadTurns(turns: readonly Turn[]): number {
  const newest = turns.findLastIndex(({ entries }) => entries.some(isAnswer));
  if (newest < 0) return turns.length;
  const answer = turns[newest]?.entries.findLast(isAnswer)?.message;
  const calls = answer?.role === "assistant" && hasCalls(answer);
  return turns.length - newest - (calls ? 0 : 1);
}

function hasCalls({ content }: AssistantMessage): boolean {
  return content.some(({ type }) => type === "toolCall");
}

function isAnswer({ message }: Entry): boolean {
  return message.role === "assistant" && isSent(message);
}

/** Returns the user messages that the running loop answers, as entries, oldest first. */
export function getMessagesToAnswer({ turns }: Pick<CurrentWork, "turns">): readonly Entry[] {
  return turns.flatMap(({ entries }) => entries.filter(isUserText));
}
