import type { Sent } from "./played.ts";
import { ScenarioError } from "./scenario-error.ts";
import type { Arrival, When } from "./schema.ts";

export type Moment = Exclude<When["during"], "tool" | undefined> | "end" | "start";

/** What still has to arrive; each arrival is given out once, at its moment. */
export class Arrivals {
  readonly #left: { readonly sent: Sent; readonly number: number }[];
  readonly #seen = new Map<string, number>();

  constructor(arrives: readonly Arrival[]) {
    this.#left = arrives.map((arrival, number) => ({
      sent: {
        ...arrival,
        messageId: ("id" in arrival ? arrival.id : undefined) ?? `arrival-${number}`,
      },
      number,
    }));
  }

  /** What comes at the next moment of this kind. */
  at(moment: Moment): { readonly nth: number; readonly sent: readonly Sent[] } {
    const nth = this.#count(moment);
    return { nth, sent: this.#take(({ when }) => momentOf(when) === moment && when.nth === nth) };
  }

  /** What comes while this call runs, by its id or its tool's name. */
  duringCall(id: string, name: string): readonly Sent[] {
    const counts = new Map([...new Set([id, name])].map((called) => [called, this.#count(`tool ${called}`)]));
    return this.#take(({ when: { during, call, nth } }) => {
      return during === "tool" && call !== undefined && counts.get(call) === nth;
    });
  }

  /** Every arrival must have had its moment. */
  mustBeOver(): void {
    if (this.#left.length === 0) return;
    throw new ScenarioError(
      this.#left.map(({ number, sent }) => `arrives.${number}.when: ${neverCame(sent.when)}`),
    );
  }

  #count(what: string): number {
    const nth = this.#seen.get(what) ?? 0;
    this.#seen.set(what, nth + 1);
    return nth;
  }

  #take(wanted: (sent: Sent) => boolean): Sent[] {
    const taken = this.#left.filter(({ sent }) => wanted(sent));
    for (const one of taken) this.#left.splice(this.#left.indexOf(one), 1);
    return taken.map(({ sent }) => sent);
  }
}

function momentOf(when: When): Moment | undefined {
  if (when.with !== undefined) return "start";
  if (when.after !== undefined) return "end";
  return when.during === "tool" ? undefined : when.during;
}

function neverCame({ during, after, call, nth }: When): string {
  const moment = during === undefined ? (after === undefined ? "start" : "end") : during;
  return `this moment never comes (${moment}${call === undefined ? "" : ` of "${call}"`}, number ${nth})`;
}
