import type { AssistantMessage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { isSent } from "../message-visibility.ts";
import { isUserText } from "./clip.ts";
import { groupLoops, groupTurns, type Turn } from "./turns.ts";

// What the next request answers: the words of people that the loop at work was given, and results that no answer has read.

export type CurrentWork = {
  /** Earlier loops, oldest first. */
  readonly older: readonly (readonly Turn[])[];
  /** The turns of the loop at work, with those of the loops that it continues without new words. */
  readonly turns: readonly Turn[];
  /** How many of its last turns hold what the model has not read yet. */
  readonly unread: number;
};

export function findCurrentWork(entries: readonly Entry[]): CurrentWork {
  const loops = joinContinuedLoops(groupLoops(groupTurns(entries)));
  const turns = loops.at(-1) ?? [];
  return { older: loops.slice(0, -1), turns, unread: countUnreadTurns(turns) };
}

/** A loop that goes on with what nobody has answered yet answers the words of the loop before it too. */
function joinContinuedLoops(loops: readonly (readonly Turn[])[]): readonly (readonly Turn[])[] {
  const joined: Turn[][] = [];
  for (const turns of loops) {
    const last = joined.at(-1);
    if (last === undefined || startsNewWork(turns, last)) joined.push([...turns]);
    else last.push(...turns);
  }
  return joined;
}

/** With a prompt, or with other words behind a last answer. */
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

/** From the newest answer on where it has calls, else from the first turn after it. */
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

/** The words that the loop at work answers, as entries, oldest first. */
export function getMessagesToAnswer({ turns }: Pick<CurrentWork, "turns">): readonly Entry[] {
  return turns.flatMap(({ entries }) => entries.filter(isUserText));
}
