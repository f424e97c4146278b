import { listPendingApprovals } from "../../../core/machine/approvals.ts";
import { Arrivals, type Moment } from "../arrivals.ts";
import type { SentArrival } from "../play-result.ts";
import type { Arrival } from "../schema.ts";
import { Refused, toArrivalEvent } from "./arrived.ts";
import type { Machine } from "./machine.ts";
import type { Notes } from "./stage.ts";

/** The arrivals of a run (user actions and the worker's death), and their rejections. */
export class People {
  readonly #arrivals: Arrivals;
  readonly #machine: Machine;
  readonly #notes: Notes;
  #crashed = false;

  constructor(arrives: readonly Arrival[], machine: Machine, notes: Notes) {
    this.#arrivals = new Arrivals(arrives);
    this.#machine = machine;
    this.#notes = notes;
  }

  /** Returns the arrivals of the next moment of this kind, for callers that handle them themselves. */
  due(moment: Moment): { readonly nth: number; readonly sent: readonly SentArrival[] } {
    return this.#arrivals.takeAt(moment);
  }

  /** Returns the arrivals while this call runs. */
  dueDuring(id: string, name: string): readonly SentArrival[] {
    return this.#arrivals.takeDuringCall(id, name);
  }

  arrive(all: readonly SentArrival[]): void {
    for (const sent of all.map((one) => this.#aimed(one))) {
      this.#notes.schedule.push({ type: "arrives", sent });
      this.take(sent);
    }
  }

  /** Reports whether the worker died since the last check. */
  hasCrashed(): boolean {
    const crashed = this.#crashed;
    this.#crashed = false;
    return crashed;
  }

  mustBeOver(): void {
    this.#arrivals.assertEmpty();
  }

  take(sent: SentArrival): void {
    this.#crashed ||= sent.do === "crash";
    try {
      const happening = toArrivalEvent(sent, this.#machine.state, this.#machine.nowMs);
      if (happening !== undefined) this.#machine.tell(happening);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#notes.refused.push(error.message);
    }
  }

  /** Resolves the tool or call of a user's answer to the call's id, which the run needs. */
  #aimed(sent: SentArrival): SentArrival {
    if ((sent.do !== "approve" && sent.do !== "refuse") || sent.call === undefined) return sent;
    const waiting = listPendingApprovals(this.#machine.state);
    const found = waiting.find(({ toolCallId, tool }) => toolCallId === sent.call || tool === sent.call);
    return found === undefined ? sent : { ...sent, call: found.toolCallId };
  }
}
