import type { Outcome } from "../../schema/record.ts";
import type { ScenarioEvent } from "./events.ts";
import type { Arrival, Deed, ScenarioReply } from "./schema.ts";
import type { SentMessage } from "./sent.ts";

/** What came of a scenario, in a form that is the same with and without a server. */
export type Played = {
  readonly events: readonly ScenarioEvent[];
  /** None yet: there are no hooks. */
  readonly hooks: readonly never[];
  /** Each request that reached the vendor. */
  readonly sent: readonly SentRequest[];
  /** Of the last run. */
  readonly outcome: Outcome;
  /** Ids of the calls whose tool was run, in call order. */
  readonly executed: readonly string[];
  readonly inbox: readonly string[];
  /** What refused arrivals were told. */
  readonly refused: readonly string[];
};

export type SentRequest = {
  readonly loop: number;
  readonly turn: number;
  readonly messages: readonly SentMessage[];
};

/**
 * What happened in which order, as the plain driver found it. The server driver follows it step by step, so that both
 * see the same interleaving; what the machine makes of it is its own.
 */
export type ScheduleStep =
  | {
      readonly type: "start";
      readonly mode: "run" | "interactive";
      readonly prompt?: string;
      readonly promptId?: string;
      readonly with?: Sent;
    }
  /** The n-th opening or closing of a loop is held up until it is let go. */
  | { readonly type: "held"; readonly step: "open" | "close"; readonly nth: number }
  | { readonly type: "let-go"; readonly step: "open" | "close"; readonly nth: number }
  | { readonly type: "asked" }
  | { readonly type: "answered"; readonly reply: ScenarioReply; readonly nth: number }
  /** The request never gets its answer: the run was stopped. */
  | { readonly type: "unanswered" }
  /** Temporal waits before it asks again: this is the n-th attempt that failed, from 1. */
  | { readonly type: "backs-off"; readonly attempt: number }
  | { readonly type: "called"; readonly calls: readonly string[] }
  /** `left`: calls of the unit that still run then. */
  | {
      readonly type: "ended";
      readonly call: string;
      readonly deed: Deed;
      readonly quick: boolean;
      readonly left: number;
    }
  | { readonly type: "cancelled"; readonly call: string; readonly left: number }
  | { readonly type: "arrives"; readonly sent: Sent }
  | { readonly type: "waits" }
  | { readonly type: "over" };

/** An arrival with its id. */
export type Sent = Arrival & { readonly messageId: string };
