import type { AgentMessage, TurnId } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { pairResults } from "./pairs.ts";

/** Entries that belong together, in order: the messages before an answer, the answer, the results of its calls. */
export type Turn = {
  /** Absent when no entry of the turn has a turn id. */
  readonly id: TurnId | undefined;
  /** Never empty. Positions may have gaps, where entries left the view. */
  readonly entries: readonly Entry[];
};

/** Any message: an application's own has no turn id. */
type Identified = Pick<AgentMessage, "role"> & { readonly turnId?: TurnId | undefined };

/** Turns by number, counted from 0 over the given entries; both ends included (CMP-02). */
export type TurnRange = { readonly start: number; readonly end: number };

/**
 * Groups entries by turn (CMP-11).
 *
 * An entry without a turn is a group of its own, with two exceptions: an answer and its results always stay together, and
 * an application's own message, which has no turn id, belongs to the group before it.
 */
export function groupTurns(entries: readonly Entry[]): readonly Turn[] {
  const { inseparable } = pairResults(entries.map(({ message }) => message));
  const turns: { id: TurnId | undefined; entries: Entry[] }[] = [];
  for (const [index, entry] of entries.entries()) {
    const { turnId: id }: Identified = entry.message;
    const last = turns.at(-1);
    const goesOn = inseparable[index] === true || entry.message.role === "extension" || isSame(last?.id, id);
    if (last === undefined || !goesOn) turns.push({ id, entries: [entry] });
    else {
      last.entries.push(entry);
      last.id ??= id;
    }
  }
  return turns;
}

function isSame(left: TurnId | undefined, right: TurnId | undefined): boolean {
  return left !== undefined && left.loopId === right?.loopId && left.turnIndex === right.turnIndex;
}

export function getEntries(turns: readonly Turn[], { start, end }: TurnRange): readonly Entry[] {
  return turns.slice(start, end + 1).flatMap(({ entries }) => entries);
}

/** Returns the range of positions of these turns, end exclusive; nothing without turns. */
export function getPositionRange(
  turns: readonly Turn[],
  range: TurnRange,
): { readonly from: number; readonly to: number } | undefined {
  const entries = getEntries(turns, range);
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const [first = last] = entries;
  return { from: first.position, to: last.position + 1 };
}

/** Returns the turns of each loop, oldest first. Turns without an id belong to the loop around them. */
export function groupLoops(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const loops: { id: string | undefined; turns: Turn[] }[] = [];
  for (const turn of turns) {
    const last = loops.at(-1);
    const id = turn.id?.loopId;
    if (last === undefined || (id !== undefined && last.id !== undefined && id !== last.id)) {
      loops.push({ id, turns: [turn] });
    } else {
      last.turns.push(turn);
      last.id ??= id;
    }
  }
  return loops.map((loop) => loop.turns);
}
