import type { StopReason, Usage } from "../../../schema/message.ts";
import type { ContinuationKind, Outcome } from "../../../schema/record.ts";
import type { Account } from "../../budget/account-state.ts";
import type { Cost } from "../../budget/usage.ts";
import type { ClosedDigest } from "./digest.ts";

// What the state holds of the open loop and of the newest closed loop.

/** An answer that does not match the schema. `isRepeated`: it was the second, after the only repair round. */
type Mismatch = { readonly problems: string; readonly isRepeated?: true };

/** The open loop. */
export type OpenLoop = {
  readonly loopId: string;
  readonly kind: ContinuationKind;
  readonly from: number;
  readonly startedAtMs: number;
  /** Time since the start that was spent waiting for the user, which the time limit does not count. Absent for 0. */
  readonly waitedMs?: number;
  /** The 0-based number of the turn that runs or comes next. */
  readonly turn: number;
  readonly usage: Usage;
  readonly costUsd: Cost;
  /** The calls of tools in its answers so far, also denied ones; absent for 0. */
  readonly toolCalls?: number;
  /** The number of events emitted so far, which is the number of the next one. */
  readonly eventCount: number;
  /** The usage of the current turn. */
  readonly turnUsage: Usage;
  readonly lastStop: StopReason | undefined;
  /** The beginning of the last answer's text, at most 256 bytes, and its position. */
  readonly lastText:
    | {
        readonly preview: string;
        readonly position: number;
        /** There is a text, but the preview does not contain it. */
        readonly isWithheld?: true;
        /** It was accepted as the structured output. */
        readonly isOutput?: true;
        /** See `OutputVerdict`. */
        readonly repairs?: readonly string[];
      }
    | undefined;
  /** No turn has begun: the messages that opened the loop have no events yet. */
  readonly hasUnreadPrompts?: true;
  /** The model is to give the session a title when the loop is answered; absent once it was asked. */
  readonly asksForTitle?: true;
  /** It was opened without prompts, to continue the existing conversation. */
  readonly isContinuation?: true;
  /** Absent until a call could not be run. */
  readonly repeatedFailures?: readonly RepeatedFailures[];
  /** Why the loop ends before its next turn: a call failed in the same way too often. */
  readonly stuckReason?: string;
  /** Absent while no answer was rejected as the structured output. */
  readonly mismatch?: Mismatch;
  /** Nudges since the last answer that had calls or announced none; absent for 0. */
  readonly nudges?: number;
  /** The turn that hooks have admitted; absent before they were asked. */
  readonly admittedTurn?: number;
  /** The turn whose answer must have no calls, as a hook requires it (IRON-05). */
  readonly textOnlyTurn?: number;
  /** Notices of hooks and of the machine for the turn that begins next; absent for none. */
  readonly notices?: readonly string[];
  /** Tools that were removed from it since it began; absent for none. */
  readonly removedTools?: readonly string[];
  /** For each server with a changed tool list, by name: the hash of what the model was informed of. Absent for none. */
  readonly toolLists?: Readonly<Record<string, string>>;
  /** The account of its sub-agents; absent while it has started none. */
  readonly account?: Account;
  /** Set by a hook that failed after an event: the loop ends with its turn. */
  readonly endedByHook?: { readonly by: string; readonly reason: string };
  /** Set by a call that ends the loop: it ends with its turn. */
  readonly endedByCall?: Extract<Outcome, { type: "paused" | "handoff" }>;
};

/** How the newest loop ended. */
export type LastLoop = {
  readonly outcome: Outcome;
  /** Absent when no loop could be opened. */
  readonly loopId?: string;
  /** The last answer's text, at most 32 KiB; complete in the entry at `position`. */
  readonly text?: string;
  readonly position?: number;
  /** See `ClosedDigest`. */
  readonly json?: "complete" | "truncated";
  /** What was repaired in the structured output; absent for nothing. */
  readonly repairs?: readonly string[];
  /** For a sub-agent's loop. */
  readonly lastAnswer?: ClosedDigest["lastAnswer"];
};

/** Failed calls of one tool, or of one name that is no tool's, since the last call of it that ran. */
export type RepeatedFailures = {
  readonly tool: string;
  readonly inARow: number;
  /** The newest failure of this tool, and the number of answers with the same failure. */
  readonly same?: { readonly reason: string; readonly answers: number; readonly turn: number };
};
