import type { Permission, QuestionRecord } from "../../../schema/loop-event.ts";
import type { Allowance } from "../../budget/account-state.ts";
import type { ViewRequest } from "../../view/view-request.ts";
import type { CallDigest, QuestionRef, ToolDigest } from "./digest.ts";
import type { Dispatch } from "./dispatch.ts";

// The calls of an answer while they run, as the phase `calling-tools` carries them.

export type CallStatus =
  | { readonly type: "pending" }
  | {
      readonly type: "running";
      readonly generation: number;
      readonly lostWorkers: number;
      readonly isLocal: boolean;
      readonly startedAtMs: number;
      /** The number of its command, when it differs from the unit's: the call has run before and has asked the user. */
      readonly number?: number;
      /** The run of a sub-agent, with its reservation; `session` is absent until it has one. */
      readonly child?: {
        readonly allocation: Allowance;
        /** The maximum of its turns that the call has set. */
        readonly maxTurns?: number;
        readonly session?: string;
      };
    }
  /** The user is asked. `untilMs` is when the definition decides instead. */
  | {
      readonly type: "awaiting-user";
      readonly sinceMs: number;
      readonly untilMs: number | undefined;
      readonly reason: string;
      /** The call cannot be run and has failed too often; the user decides whether the loop continues. For the model. */
      readonly failure?: { readonly text: string; readonly reason: string };
      /** The call has run, and its tool asks for more than an approval. */
      readonly question?: QuestionRef;
    }
  | DoneStatus;

export type DoneStatus = {
  readonly type: "done";
  readonly isError: boolean;
  readonly tokens: number;
  /** Hooks are still to be notified of its end, and then the events of its result follow. */
  readonly awaitsHooks?: true;
  /** The call ends the loop. */
  readonly endsLoop?: ToolDigest["endsLoop"];
};

export type Call = CallDigest & {
  readonly status: CallStatus;
  /** Why it may run; absent before the decision, and where no decision was needed. */
  readonly permission?: Permission;
  /** Replaces the model's arguments; set by the user. */
  readonly changedArguments?: Readonly<Record<string, unknown>>;
  /** Questions of its tool to the user that have ended. */
  readonly questions?: readonly QuestionRecord[];
};

export type CallingTools = {
  readonly type: "calling-tools";
  readonly dispatch: Dispatch;
  /** The position of the assistant message. */
  readonly position: number;
  readonly calls: readonly Call[];
  readonly batch: CallBatch;
  /** Writes the outbox while nothing runs and the user is asked; `tried` until the next call runs. */
  readonly flush?: Dispatch | "tried";
  /** View requests of calls that have ended. */
  readonly viewRequests?: readonly QueuedRequest[];
};

/**
 * The calls from `from` (inclusive) to `to` (exclusive) run together. `outboxCall` takes the outbox: -1 when all are
 * local.
 */
export type CallBatch = {
  readonly from: number;
  readonly to: number;
  readonly outboxCall: number;
  /** The first position that the unit may write: the point at which all of its calls would fork. */
  readonly base: number;
};

/** A request with the call that makes it: the call's index in the answer at `position`. */
export type QueuedRequest = { readonly call: number; readonly request: ViewRequest };
