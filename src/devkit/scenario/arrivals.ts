import type { SentArrival } from "./play-result.ts";
import { ScenarioError } from "./scenario-error.ts";
import type { Arrival, When } from "./schema.ts";

export type Moment = Exclude<When["during"], "tool" | undefined> | "end" | "start";

/** The pending arrivals; each is returned once, at its moment. */
export class Arrivals {
  readonly #remaining: { readonly sent: SentArrival; readonly number: number }[];
  readonly #counts = new Map<string, number>();

  constructor(arrives: readonly Arrival[]) {
    this.#remaining = arrives.map((arrival, number) => ({
      sent: {
        ...arrival,
        messageId: ("id" in arrival ? arrival.id : undefined) ?? `arrival-${number}`,
      },
      number,
    }));
  }

  /** Takes the arrivals of the next moment of this kind. */
  takeAt(moment: Moment): { readonly nth: number; readonly sent: readonly SentArrival[] } {
    const nth = this.#countMoment(moment);
    return { nth, sent: this.#take(({ when }) => getMoment(when) === moment && when.nth === nth) };
  }

  /** Takes the arrivals during this call, by its id or its tool's name. */
  takeDuringCall(id: string, name: string): readonly SentArrival[] {
    const counts = new Map(
      [...new Set([id, name])].map((called) => [called, this.#countMoment(`tool ${called}`)]),
    );
    return this.#take(({ when: { during, call, nth } }) => {
      return during === "tool" && call !== undefined && counts.get(call) === nth;
    });
  }

  /** Throws if an arrival's moment never occurred. */
  assertEmpty(): void {
    if (this.#remaining.length === 0) return;
    throw new ScenarioError(
      this.#remaining.map(({ number, sent }) => `arrives.${number}.when: ${formatMissedMoment(sent.when)}`),
    );
  }

  #countMoment(what: string): number {
    const nth = this.#counts.get(what) ?? 0;
    this.#counts.set(what, nth + 1);
    return nth;
  }

  #take(wanted: (sent: SentArrival) => boolean): SentArrival[] {
    const taken = this.#remaining.filter(({ sent }) => wanted(sent));
    for (const one of taken) this.#remaining.splice(this.#remaining.indexOf(one), 1);
    return taken.map(({ sent }) => sent);
  }
}

function getMoment(when: When): Moment | undefined {
  if (when.with !== undefined) return "start";
  if (when.after !== undefined) return "end";
  return when.during === "tool" ? undefined : when.during;
}

function formatMissedMoment({ during, after, call, nth }: When): string {
  const moment = during === undefined ? (after === undefined ? "start" : "end") : during;
  return `this moment never occurs (${moment}${call === undefined ? "" : ` of "${call}"`}, number ${nth})`;
}
