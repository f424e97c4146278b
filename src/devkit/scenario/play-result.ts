import type { Continuation } from "../../schema/definition.ts";
import type { Outcome } from "../../schema/record.ts";
import type { ScenarioEvent } from "./events.ts";
import type { Arrival, Deed, ScenarioReply } from "./schema.ts";
import type { SentMessage } from "./sent-message.ts";

/** What came of a scenario, in a form that is the same with and without a server. */
export type PlayResult = {
  readonly events: readonly ScenarioEvent[];
  /** In the order in which they were asked. */
  readonly hooks: readonly HookCall[];
  /** Each request that reached the vendor. */
  readonly sent: readonly SentRequest[];
  /** Of the last run. */
  readonly outcome: Outcome;
  /** What the last run gave back: the text of its last answer, or the JSON of its output. */
  readonly text?: string | undefined;
  /** In call order, once for each time that a tool was run. */
  readonly ran: readonly RanCall[];
  readonly inbox: readonly string[];
  /** What refused arrivals were told. */
  readonly refused: readonly string[];
  /** How often a run continued as new. */
  readonly continuedAsNew: number;
  /** Runs of sub-agents, in the order in which they were called. */
  readonly subAgents: readonly SubAgentPlayResult[];
};

/** What came of one call of a sub-agent. */
export type SubAgentPlayResult = Pick<PlayResult, "events" | "sent" | "outcome" | "subAgents"> & {
  readonly name: string;
  /** The id of the call, in its caller's answer. */
  readonly call: string;
};

/**
 * A hook that was asked.
 *
 * @property hook - The point.
 * @property behind - How many events of the session were written by then. A step writes what has happened before it asks.
 */
export type HookCall = { readonly hook: string; readonly behind: number } & {
  readonly [field: string]: unknown;
};

export type SentRequest = {
  readonly loop: number;
  readonly turn: number;
  readonly for: "answer" | "summary";
  readonly messages: readonly SentMessage[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
};

/** A tool that was run, and what with. */
export type RanCall = { readonly call: string; readonly tool: string; readonly arguments: unknown };

/** How a run of the session begins. */
export type RunStart = {
  readonly mode: "run" | "interactive";
  readonly prompt?: { readonly id: string; readonly text: string };
  readonly with?: SentArrival;
  readonly continued?: ContinuedFrom;
};

/** Where a run without a prompt goes on. */
export type ContinuedFrom = Pick<Extract<Arrival, { do: "continue" }>, "kind" | "at" | "loop" | "limits">;

/** @param at - The place that `at` and `loop` name; the session's head when absent. */
export function buildContinuation({ kind, limits }: ContinuedFrom, at: Continuation["at"]): Continuation {
  return {
    kind: kind === "default" ? { type: kind } : { type: kind, tag: "2025-01-01T00:00:00Z" },
    ...(at === undefined ? {} : { at }),
    ...(limits === undefined ? {} : { limits: limits as Continuation["limits"] }),
  };
}

/**
 * What happened in which order, as the plain driver found it. The server driver follows it step by step, so that both
 * see the same interleaving; what the machine makes of it is its own.
 */
export type ScheduleStep =
  | ({ readonly type: "start" } & RunStart)
  /** The n-th opening or closing of a loop is held up until it is let go. */
  | { readonly type: "held"; readonly step: "open" | "close"; readonly nth: number }
  | { readonly type: "let-go"; readonly step: "open" | "close"; readonly nth: number }
  /** The vendor has a request; the first words of the user that it shows. */
  | { readonly type: "asked"; readonly firstUserText: string }
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
  /** Calls have results without being run; `quick` are those that the worker has answered in local activities. */
  | { readonly type: "unrun"; readonly left: number; readonly quick: readonly string[] }
  /** The worker is gone, and with it a request to the vendor, of which there were `asked` so far, or these calls. */
  | { readonly type: "worker-lost"; readonly calls: readonly string[]; readonly asked?: number }
  | { readonly type: "cancelled"; readonly call: string; readonly left: number }
  | { readonly type: "arrives"; readonly sent: SentArrival }
  | { readonly type: "waits" }
  /** Nothing runs, and a call waits for a person. */
  | { readonly type: "asks-people" }
  | { readonly type: "over" }
  /** Of the sub-agent that this call has started. */
  | {
      readonly type: "child";
      readonly call: string;
      readonly name: string;
      readonly step: ScheduleStep;
    }
  /** Its caller has been told; `left`: calls of the unit that still run then. */
  | { readonly type: "child-ended"; readonly left: number };

/** An arrival with its id. */
export type SentArrival = Arrival & { readonly messageId: string };
