import type { Delta } from "./stream-hub.ts";

type Execution = Pick<Delta, "run" | "command" | "generation" | "attempt">;

/** Checks whether one execution is older than the other. Executions of different runs have no order: never older. */
export function isOlder(one: Execution, other: Execution): boolean {
  if (one.run !== other.run) return false;
  if (one.command !== other.command) return one.command < other.command;
  if (one.generation !== other.generation) return one.generation < other.generation;
  return one.attempt < other.attempt;
}

/**
 * Returns the subject of an execution, of which there can be several executions: an answer, for any command that requests
 * it, or a step of a call, of which a sub-agent makes many for one call.
 */
export function getSubject({ loopId, turn, run, command, call, body }: Delta): string {
  const isCall = "toolCallId" in body && body.type !== "tool-call";
  return isCall ? `${loopId}/${turn}/${run}/${command}/${call}` : `${loopId}/${turn}`;
}

type Turn = { readonly turn: number; readonly newest: Map<string, Execution> };

/** Detects deltas of an execution that a newer one has replaced. */
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
