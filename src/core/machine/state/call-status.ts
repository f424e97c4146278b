import type { Permission, QuestionRecord } from "../../../schema/record.ts";
import type { Allowance } from "../../budget/amounts.ts";
import type { QueuedRequest } from "../apply-prunes.ts";
import type { CallDigest, QuestionRef } from "./digest.ts";
import type { Dispatch } from "./state.ts";

// The calls of an answer while they run: what the phase `calling-tools` carries.

export type CallStatus =
  | { readonly type: "pending" }
  | {
      readonly type: "running";
      readonly generation: number;
      readonly lost: number;
      readonly local: boolean;
      readonly startedAtMs: number;
      /** Of its command, where that is not the unit's: it has run before, and asked a person. */
      readonly number?: number;
      /** It is the run of a sub-agent, with what was reserved for it; `session` once it has one. */
      readonly child?: { readonly given: Allowance; readonly session?: string };
    }
  /** A person is asked; `untilMs` is when the definition's word counts instead. */
  | {
      readonly type: "asking";
      readonly sinceMs: number;
      readonly untilMs: number | undefined;
      readonly reason: string;
      /** It cannot be run, and has failed too often: a person says whether the loop goes on. What the model reads then. */
      readonly failed?: { readonly text: string; readonly reason: string };
      /** The call has run, and its tool asks for more than a yes. */
      readonly question?: QuestionRef;
    }
  /** `untold`: hooks are told of its end, and then the events of its result come. */
  | {
      readonly type: "done";
      readonly isError: boolean;
      readonly tokens: number;
      readonly untold?: true;
    };

export type Call = CallDigest & {
  readonly status: CallStatus;
  /** Why it may run; absent while nothing has been decided, and where nothing had to be. */
  readonly permission?: Permission;
  /** What a person has put in place of the model's arguments. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** What its tool has asked a person, as far as that is over. */
  readonly questions?: readonly QuestionRecord[];
};

export type CallingTools = {
  readonly type: "calling-tools";
  readonly issue: Dispatch;
  /** Of the assistant message. */
  readonly position: number;
  readonly calls: readonly Call[];
  readonly unit: CallBatch;
  /** Writes the outbox down while nothing runs and a person is asked; `tried` until the next call runs. */
  readonly flush?: Dispatch | "tried";
  /** What calls that are over want of the view. */
  readonly requests?: readonly QueuedRequest[];
};

/** The calls from `from` up to, not including, `to` run together; `carrier` takes the outbox along: none (-1) when all are local. */
type CallBatch = {
  readonly from: number;
  readonly to: number;
  readonly carrier: number;
  /** The first position that the unit may write: where all of its calls would fork. */
  readonly base: number;
};
