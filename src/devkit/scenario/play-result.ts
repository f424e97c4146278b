import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { Outcome } from "../../schema/record.ts";
import type { ScenarioEvent } from "./events.ts";
import type { Arrival, Deed, ScenarioReply } from "./schema.ts";
import type { SentMessage } from "./sent-message.ts";

/** The result of a scenario, in the same form with and without a server. */
export type PlayResult = {
  readonly events: readonly ScenarioEvent[];
  /** The hook calls in order. */
  readonly hooks: readonly HookCall[];
  /** Each request that reached the vendor. */
  readonly sent: readonly SentRequest[];
  /** The outcome of the last run. */
  readonly outcome: Outcome;
  /** The result of the last run: the text of its last answer, or the JSON of its output. */
  readonly text?: string | undefined;
  /** The tool executions in call order, once for each execution. */
  readonly ran: readonly RanCall[];
  readonly inbox: readonly string[];
  /** The messages of rejected arrivals. */
  readonly refused: readonly string[];
  /** How often a run continued as new. */
  readonly continuedAsNew: number;
  /** Runs of sub-agents, in call order. */
  readonly subAgents: readonly SubAgentPlayResult[];
};

/** The result of one call of a sub-agent. */
export type SubAgentPlayResult = Pick<PlayResult, "events" | "sent" | "outcome" | "subAgents"> & {
  readonly name: string;
  /** The call's id in its caller's answer. */
  readonly call: string;
};

/**
 * A call of a hook.
 *
 * @property hook - The hook point.
 * @property eventsBefore - How many events of the session were written before it. A step writes its events before it calls hooks.
 */
export type HookCall = { readonly hook: string; readonly eventsBefore: number } & {
  readonly [field: string]: unknown;
};

export type SentRequest = {
  readonly loop: number;
  readonly turn: number;
  readonly for: "answer" | "summary";
  readonly messages: readonly SentMessage[];
  /** The names of the tools in the request. */
  readonly tools: readonly string[];
};

/** The execution of a tool, with its arguments. */
export type RanCall = { readonly call: string; readonly tool: string; readonly arguments: unknown };

/** The start of a run of the session. */
export type RunStart = {
  readonly mode: "run" | "interactive";
  readonly prompt?: { readonly id: string; readonly text: string };
  readonly with?: SentArrival;
  readonly continued?: ContinuedFrom;
};

/** The position from which a run without a prompt continues. */
export type ContinuedFrom = Pick<Extract<Arrival, { do: "continue" }>, "kind" | "at" | "loop" | "limits">;

/** @param at - The position that `at` and `loop` specify; by default the session's head. */
export function buildContinuation({ kind, limits }: ContinuedFrom, at: Continuation["at"]): Continuation {
  return {
    kind: kind === "default" ? { type: kind } : { type: kind, tag: "2025-01-01T00:00:00Z" },
    ...omitUndefined({ at }),
    ...(limits === undefined ? {} : { limits: limits as Continuation["limits"] }),
  };
}

/**
 * The order of events that the plain driver recorded. The server driver follows it step by step, so that both have the
 * same interleaving; the machine's results are not prescribed.
 */
export type ScheduleStep =
  | ({ readonly type: "start" } & RunStart)
  /** The n-th opening or closing of a loop is blocked until `let-go`. */
  | { readonly type: "held"; readonly step: "open" | "close"; readonly nth: number }
  | { readonly type: "let-go"; readonly step: "open" | "close"; readonly nth: number }
  /** The vendor has a request with this first user text. */
  | { readonly type: "asked"; readonly firstUserText: string }
  | { readonly type: "answered"; readonly reply: ScenarioReply; readonly nth: number }
  /** The request never gets its answer: the run was stopped. */
  | { readonly type: "unanswered" }
  /** Temporal waits before the retry: the n-th attempt failed, from 1. */
  | { readonly type: "backs-off"; readonly attempt: number }
  | { readonly type: "called"; readonly calls: readonly string[] }
  /** `left`: the number of calls of the unit that still run. */
  | {
      readonly type: "ended";
      readonly call: string;
      readonly deed: Deed;
      readonly quick: boolean;
      readonly left: number;
    }
  /** Calls have results without being run; the worker has answered the `quick` ones in local activities. */
  | { readonly type: "unrun"; readonly left: number; readonly quick: readonly string[] }
  /** The worker died during a request to the vendor (`asked`: the number of requests so far) or during these calls. */
  | { readonly type: "worker-lost"; readonly calls: readonly string[]; readonly asked?: number }
  | { readonly type: "cancelled"; readonly call: string; readonly left: number }
  | { readonly type: "arrives"; readonly sent: SentArrival }
  | { readonly type: "waits" }
  /** Nothing runs, and a call waits for the user. */
  | { readonly type: "asks-people" }
  | { readonly type: "over" }
  /** A step of the sub-agent that this call started. */
  | {
      readonly type: "child";
      readonly call: string;
      readonly name: string;
      readonly step: ScheduleStep;
    }
  /** The caller has the report; `left`: the number of calls of the unit that still run. */
  | { readonly type: "child-ended"; readonly left: number };

/** An arrival with its id. */
export type SentArrival = Arrival & { readonly messageId: string };
