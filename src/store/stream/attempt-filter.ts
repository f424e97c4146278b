import type { Delta } from "./stream-hub.ts";

type Execution = Pick<Delta, "run" | "command" | "generation" | "attempt">;

/** Whether one execution came before the other. Of two runs nothing can be said: the one that is heard of later is newer. */
export function isOlder(one: Execution, other: Execution): boolean {
  if (one.run !== other.run) return false;
  if (one.command !== other.command) return one.command < other.command;
  if (one.generation !== other.generation) return one.generation < other.generation;
  return one.attempt < other.attempt;
}

/**
 * What an execution is one of several of: an answer, whichever command asks for it; a step of a call, of which a
 * sub-agent makes many for one call.
 */
export function getSubject({ loopId, turn, run, command, call, body }: Delta): string {
  const isCall = "toolCallId" in body && body.type !== "tool-call";
  return isCall ? `${loopId}/${turn}/${run}/${command}/${call}` : `${loopId}/${turn}`;
}

type Turn = { readonly turn: number; readonly newest: Map<string, Execution> };

/** Tells what was published by an execution that a newer one has replaced. */
export class AttemptFilter {
  readonly #turns = new Map<string, Turn>();

  isVoid(delta: Delta): boolean {
    const { loopId, turn, run, command, generation, attempt } = delta;
    const known = this.#turns.get(loopId);
    const { newest } = known !== undefined && known.turn >= turn ? known : { newest: new Map() };
    if (newest !== known?.newest) this.#turns.set(loopId, { turn, newest });
    const subject = getSubject(delta);
    const before = newest.get(subject);
    if (before !== undefined && isOlder(delta, before)) return true;
    newest.set(subject, { run, command, generation, attempt });
    return false;
  }
}
