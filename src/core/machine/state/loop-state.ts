import type { StopReason, Usage } from "../../../schema/message.ts";
import type { ContinuationKind, Outcome } from "../../../schema/record.ts";
import type { Account } from "../../budget/account.ts";
import type { Cost } from "../../budget/usage.ts";
import type { RepeatedFailures } from "../repeated-failures.ts";
import type { ClosedDigest } from "./digest.ts";

// What the state holds of the loop that is open, and of the newest that was closed.

/** An answer that does not fit the schema. `again`: it was the second, behind the one repair round. */
type Mismatch = { readonly problems: string; readonly again?: true };

/** The loop that is open. */
export type OpenLoop = {
  readonly loopId: string;
  readonly kind: ContinuationKind;
  readonly from: number;
  readonly startedAtMs: number;
  /** Of the time since then: waiting for people, which the time limit does not count. Absent for 0. */
  readonly waitedMs?: number;
  /** 0-based; of the turn that runs or comes next. */
  readonly turn: number;
  readonly usage: Usage;
  readonly costUsd: Cost;
  /** Events given out so far, which is the number of the next. */
  readonly events: number;
  /** The usage of the turn that runs. */
  readonly turnUsage: Usage;
  readonly lastStop: StopReason | undefined;
  /** The beginning of the last answer's text, at most 256 bytes, and its position. */
  readonly lastText:
    | {
        readonly preview: string;
        readonly position: number;
        /** There is a text, and the preview does not show it. */
        readonly withheld?: true;
        /** It was accepted as the structured output. */
        readonly isOutput?: true;
      }
    | undefined;
  /** No turn has begun: the words that it was opened with have no events yet. */
  readonly unread?: true;
  /** It was opened without prompts, to go on with what is there. */
  readonly goesOn?: true;
  /** Absent until a call could not be run. */
  readonly mistakes?: readonly RepeatedFailures[];
  /** A call failed in the same way too often: why the loop ends before its next turn. */
  readonly stuck?: string;
  /** Absent while no answer was found unfit as the structured output. */
  readonly mismatch?: Mismatch;
  /** Nudges since the last answer that had calls or announced none; absent for 0. */
  readonly nudges?: number;
  /** The turn that hooks have let begin; absent before they were asked. */
  readonly admitted?: number;
  /** Words of hooks and of the machine for the turn that begins next; absent for none. */
  readonly notices?: readonly string[];
  /** Tools that were taken from it since it began; absent for none. */
  readonly removedTools?: readonly string[];
  /** What was told of servers that offer something else by now, by name: a hash. Absent for none. */
  readonly offers?: Readonly<Record<string, string>>;
  /** What its sub-agents have and have had; absent while it has started none. */
  readonly account?: Account;
  /** By a hook that failed behind something: the loop ends with its turn. */
  readonly ended?: { readonly by: string; readonly reason: string };
};

/** How the newest loop ended. */
export type LastLoop = {
  readonly outcome: Outcome;
  /** Absent when no loop could be opened. */
  readonly loopId?: string;
  /** The last answer's text, at most 32 KiB; whole in the entry at `position`. */
  readonly text?: string;
  readonly position?: number;
  /** See `ClosedDigest`. */
  readonly json?: "whole" | "cut";
  /** Of a sub-agent's loop. */
  readonly words?: ClosedDigest["words"];
};
