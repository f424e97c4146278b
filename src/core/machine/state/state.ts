import type { AgentDefinition, Continuation } from "../../../schema/definition.ts";
import type { Outcome } from "../../../schema/record.ts";
import type { Allowance, Amounts } from "../../budget/account-state.ts";
import type { Cost } from "../../budget/usage.ts";
import type { LoopPart } from "../../evaluation/loop-part.ts";
import type { Grant } from "../../permission/grants.ts";
import type { View } from "../../view/view.ts";
import type { RevertRequest } from "../../view/view-request.ts";
import type { CallingTools } from "./call-status.ts";
import type { CompactionReason, ReportedSize } from "./compaction.ts";
import type { PinnedDigest } from "./digest.ts";
import type { Dispatch } from "./dispatch.ts";
import type { EndedChildren } from "./ended-children.ts";
import type { HookQuestion } from "./hook-question.ts";
import type { InboundMessage, Prompt, Queues, RejectedMessages } from "./inbound-message.ts";
import type { LastLoop, OpenLoop } from "./loop-state.ts";
import type { NewBranch, Outbox } from "./outbox.ts";
import type { NextRound, TaskRequest } from "./task.ts";
import type { TurnSource } from "./turn-ending.ts";

// The state is everything about a run between two commands: one JSON value, small however long the session is.
//
// Invariants
//   I1. `next(state)` is a function of the state alone, and the same each time it is called.
//   I2. A message that was accepted is in a queue, in the outbox, in the command in flight, or in the transcript:
//       never in two of them, never in none.
//   I3. Every call of an answer gets exactly one result, at the position after the answer plus its index.
//   I4. Every loop that was opened has one AgentEnd, and events are numbered from 0 without a gap.
//   I5. No text of a conversation is in the state, except user messages that nothing has taken yet.
//   I6. Each running sub-agent, and nothing else, has a share, reserved from what is left. For a sub-agent that has
//       ended, what it has used counts.

/** The shape of `State`. A run carries it across continue-as-new; a worker rejects a newer one. */
export const STATE_VERSION = 1;

/** The newest rule set. A change of what `next` or `apply` does adds one and keeps the old code path (design 3.15). */
export const RULE_SET = 1;

/** The phase of the run. Each phase carries what it needs and nothing else. */
export type Phase =
  /** Before the driver has accepted what arrived together with the start. */
  | {
      readonly type: "starting";
      readonly prompts: readonly InboundMessage[];
      readonly continuation?: Continuation;
    }
  | {
      readonly type: "opening";
      readonly issue: Dispatch;
      readonly prompts: readonly Prompt[];
      readonly continuation?: Continuation;
    }
  /**
   * `compacted`: the context was already made smaller for this answer, because the vendor rejected it. `waits`: until when
   * the vendor is not called, and why.
   */
  | {
      readonly type: "calling-model";
      readonly issue: Dispatch;
      readonly attemptsBefore: number;
      readonly compacted?: boolean;
      readonly waits?: { readonly untilMs: number; readonly fault: string; readonly message: string };
    }
  | { readonly type: "compacting"; readonly issue: Dispatch; readonly why: CompactionReason }
  /** The input filters check these messages, which stay in their queue until the turn begins. */
  | {
      readonly type: "filtering";
      readonly issue: Dispatch;
      readonly source: TurnSource;
      readonly ids: readonly string[];
    }
  | CallingTools
  /** `brief`: the hooks are notified after a stop. */
  | {
      readonly type: "hooking";
      readonly issue: Dispatch;
      readonly question: HookQuestion;
      readonly brief?: true;
    }
  /** The run is updated to the definition with this hash. */
  | { readonly type: "moving"; readonly issue: Dispatch; readonly to: string; readonly then: AfterUpdate }
  | { readonly type: "closing"; readonly issue: Dispatch; readonly outcome: Outcome }
  | {
      readonly type: "recording";
      readonly issue: Dispatch;
      readonly inbox: readonly InboundMessage[];
      readonly afterwards: AfterRecord;
    }
  | { readonly type: "waiting"; readonly sinceMs: number; readonly untilMs: number | undefined }
  | { readonly type: "rotating"; readonly resume: Resume }
  | { readonly type: "ended" }
  | TransientPhase;

/** Phases that a run only passes through: `apply` never leaves it in one (see advance.ts). */
type TransientPhase =
  | { readonly type: "turn-due"; readonly source: TurnSource }
  /** `announces`: the answer announces a tool call and makes none. `output`: the verdict on what may be the last answer. */
  | {
      readonly type: "turn-over";
      readonly position: number;
      readonly results: number;
      readonly announces?: true;
      /** The model's requests to go back. */
      readonly reverts?: readonly RevertRequest[];
      readonly output?: "accepted" | "mismatch";
    }
  | { readonly type: "loop-over" };

/** Where a run resumes after it continued as new. */
export type Resume =
  | { readonly type: "turn"; readonly source: TurnSource }
  | { readonly type: "wait"; readonly sinceMs: number; readonly untilMs: number | undefined };

/** Where a run resumes after its definition was updated. */
export type AfterUpdate =
  | Resume
  | { readonly type: "close"; readonly outcome: Outcome }
  | { readonly type: "loop-over" };

/** What follows a `record` step that only writes the outbox. */
type AfterRecord = Resume | { readonly type: "end" };

/** The definition that a run must pin: the definition itself until the first loop is open, its hash from then on. */
export type RequestedDefinition = { readonly definition?: AgentDefinition; readonly hash?: string };

export type State = {
  readonly version: typeof STATE_VERSION;
  readonly rules: number;
  readonly session: string;
  /** A `run` ends when there is nothing left to do; an `interactive` run waits for the next prompt. */
  readonly mode: "run" | "interactive";
  /** How long an interactive run waits for a prompt before it ends; `null` waits forever. */
  readonly idleTimeoutMs: number | null;
  /** Quick tools run as local activities. */
  readonly localSteps: boolean;
  /** Present when status and summaries must contain no text of the conversation. */
  readonly words?: "none";
  readonly asked: RequestedDefinition;
  /** What `open-loop` pinned; it stays for the rest of the run. */
  readonly pinned: PinnedDigest | undefined;
  /** The time of the last event, by the workflow's clock. */
  readonly nowMs: number;
  /** The number of the next command. */
  readonly commands: number;
  readonly phase: Phase;
  readonly queues: Queues;
  /** Ids of the newest accepted messages, oldest first. */
  readonly recentIds: readonly string[];
  /** Messages for which the queues had no room; absent for none. */
  readonly refused?: RejectedMessages;
  readonly outbox: Outbox;
  /** The branch to which the run writes, and its length: the next position. */
  readonly branch: string;
  readonly length: number;
  /** The branch does not exist yet; the next command that writes begins it. */
  readonly fork?: NewBranch;
  readonly view: View;
  /** The vendor's last token count; estimates cover what was added since (CTX-05). */
  readonly counted?: ReportedSize;
  /** The user has requested a compaction, which precedes the next answer. */
  readonly compact?: { readonly focus?: string };
  /** The user has requested another definition: the run is updated before the next turn, or before its loop ends. */
  readonly update?: { readonly hash: string };
  /** The result of the newest definition update. */
  readonly lastMove?: { readonly to: string; readonly refused?: string };
  readonly loop: OpenLoop | undefined;
  readonly stop: { readonly reason: string } | undefined;
  /** The run should continue as new between two turns. */
  readonly rotate: boolean;
  /** Totals of all loops of this session's run. */
  readonly totals: {
    readonly loops: number;
    readonly turns: number;
    readonly costUsd: Cost;
    /** Spent by sub-agents of closed loops. Absent for 0. */
    readonly costBelowUsd?: Cost;
    /** For a run that ends with a report to its starter. Absent for 0. */
    readonly messages?: number;
    readonly used?: Amounts;
    readonly waitedMs?: number;
  };
  /** What the user has allowed for the rest of the session, newest last. */
  readonly grants?: readonly Grant[];
  /** The beginning of the first prompt, at most 256 bytes, for operators. */
  readonly goal: string;
  readonly last: LastLoop | undefined;
  /** The run is a sub-agent's. */
  readonly task?: TaskRequest;
  /** The run is part of another run's work, with this reservation for it and all that it starts. It ends with a report. */
  readonly share?: Allowance;
  /** Its loop is a branch of an evaluation, in the evaluation's session. */
  readonly part?: LoopPart;
  /** Sub-agents that have ended. */
  readonly childrenOver?: EndedChildren;
  /** How the agent wants its work to continue, by its newest call that specifies it. */
  readonly rest?: NextRound;
  /** Hooks were notified that the task has ended. */
  readonly taskOver?: true;
};
