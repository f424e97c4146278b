import type { Continuation } from "../../../schema/continuation.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { Usage } from "../../../schema/message.ts";
import type { Outcome, SessionTitle } from "../../../schema/record.ts";
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
      readonly dispatch: Dispatch;
      readonly prompts: readonly Prompt[];
      readonly continuation?: Continuation;
    }
  /**
   * `isCompacted`: the context was already made smaller for this answer, because the vendor rejected it. `vendorWait`:
   * until when the vendor is not called, and why.
   */
  | {
      readonly type: "calling-model";
      readonly dispatch: Dispatch;
      readonly attemptsBefore: number;
      readonly isCompacted?: boolean;
      readonly vendorWait?: { readonly untilMs: number; readonly fault: string; readonly message: string };
    }
  | { readonly type: "compacting"; readonly dispatch: Dispatch; readonly reason: CompactionReason }
  /** The input filters check these messages, which stay in their queue until the turn begins. */
  | {
      readonly type: "filtering";
      readonly dispatch: Dispatch;
      readonly source: TurnSource;
      readonly ids: readonly string[];
    }
  | CallingTools
  /** `isBrief`: the hooks are notified after a stop. */
  | {
      readonly type: "running-hooks";
      readonly dispatch: Dispatch;
      readonly question: HookQuestion;
      readonly isBrief?: true;
    }
  /** The run is updated to the definition with this hash. */
  | {
      readonly type: "updating-definition";
      readonly dispatch: Dispatch;
      readonly to: string;
      readonly continueWith: AfterUpdate;
    }
  /** The loop is answered, and its model is asked for a title of the session. */
  | { readonly type: "titling"; readonly dispatch: Dispatch; readonly outcome: Outcome }
  /** `endedAtMs`: when the loop emitted its terminal event. */
  | {
      readonly type: "closing";
      readonly dispatch: Dispatch;
      readonly outcome: Outcome;
      readonly endedAtMs: number;
    }
  | {
      readonly type: "recording";
      readonly dispatch: Dispatch;
      readonly inbox: readonly InboundMessage[];
      readonly continueWith: AfterRecord;
    }
  | { readonly type: "waiting"; readonly sinceMs: number; readonly untilMs: number | undefined }
  | { readonly type: "rotating"; readonly resume: Resume }
  | { readonly type: "ended" }
  | TransientPhase;

/** Phases that a run only passes through: `apply` never leaves it in one (see advance.ts). */
type TransientPhase =
  | { readonly type: "turn-pending"; readonly source: TurnSource }
  /**
   * `announcesCall`: the answer announces a tool call and makes none. `outputVerdict`: the verdict on what may be the last
   * answer.
   */
  | {
      readonly type: "turn-ended";
      readonly position: number;
      readonly results: number;
      readonly announcesCall?: true;
      /** The model's requests to go back. */
      readonly reverts?: readonly RevertRequest[];
      readonly outputVerdict?: "accepted" | "mismatch";
    }
  | { readonly type: "loop-ended" };

/** Where a run resumes after it continued as new. */
export type Resume =
  | { readonly type: "turn"; readonly source: TurnSource }
  | { readonly type: "wait"; readonly sinceMs: number; readonly untilMs: number | undefined };

/** Where a run resumes after its definition was updated. */
export type AfterUpdate =
  | Resume
  | { readonly type: "close"; readonly outcome: Outcome }
  | { readonly type: "loop-ended" };

/** What follows a `record` step that only writes the outbox. */
type AfterRecord = Resume | { readonly type: "end" };

/** The definition that a run must pin: the definition itself until the first loop is open, its hash from then on. */
export type RequestedDefinition = { readonly definition?: AgentDefinition; readonly hash?: string };

export type State = {
  readonly version: typeof STATE_VERSION;
  readonly ruleSet: number;
  readonly session: string;
  /** A `run` ends when there is nothing left to do; an `interactive` run waits for the next prompt. */
  readonly mode: "run" | "interactive";
  /** How long an interactive run waits for a prompt before it ends; `null` waits forever. */
  readonly idleTimeoutMs: number | null;
  /** Quick tools run as local activities. */
  readonly localSteps: boolean;
  /** Present when status and summaries must contain no text of the conversation. */
  readonly redactContent?: true;
  readonly requestedDefinition: RequestedDefinition;
  /** What `open-loop` pinned; it stays for the rest of the run. */
  readonly pinned: PinnedDigest | undefined;
  /** The time of the last event, by the workflow's clock. */
  readonly nowMs: number;
  /** The number of the next command. */
  readonly nextCommand: number;
  readonly phase: Phase;
  readonly queues: Queues;
  /** Ids of the newest accepted messages, oldest first. */
  readonly recentIds: readonly string[];
  /** Messages for which the queues had no room; absent for none. */
  readonly rejectedMessages?: RejectedMessages;
  readonly outbox: Outbox;
  /** The branch to which the run writes, and its length: the next position. */
  readonly branch: string;
  readonly length: number;
  /** The branch does not exist yet; the next command that writes begins it. */
  readonly newBranch?: NewBranch;
  readonly view: View;
  /** The vendor's last token count; estimates cover what was added since (CTX-05). */
  readonly reportedSize?: ReportedSize;
  /** The user has requested a compaction, which precedes the next answer. */
  readonly requestedCompaction?: { readonly focus?: string };
  /** The user has requested another definition: the run is updated before the next turn, or before its loop ends. */
  readonly requestedUpdate?: { readonly hash: string };
  /** The result of the newest definition update. */
  readonly lastDefinitionUpdate?: { readonly to: string; readonly rejected?: string };
  readonly loop: OpenLoop | undefined;
  readonly stop: { readonly reason: string } | undefined;
  /** The run should continue as new between two turns. */
  readonly rotationRequested: boolean;
  /** Totals of all loops of this session's run. */
  readonly totals: {
    readonly loops: number;
    readonly turns: number;
    readonly costUsd: Cost;
    /** Spent by sub-agents of closed loops. Absent for 0. */
    readonly costBelowUsd?: Cost;
    /** Of all answers. Absent while no loop has ended. */
    readonly usage?: Usage;
    /** The time of all loops together, without the waits for prompts between them. Absent while no loop has ended. */
    readonly durationMs?: number;
    /** For a run that ends with a report to its starter. Absent for 0. */
    readonly messages?: number;
    readonly used?: Amounts;
    readonly waitedMs?: number;
  };
  /** What the user has allowed for the rest of the session, newest last. */
  readonly grants?: readonly Grant[];
  /** The beginning of the first prompt, at most 256 bytes, for operators. */
  readonly goal: string;
  /** The title that the user has requested with the start, until the first loop is open. */
  readonly requestedTitle?: string;
  /** Temporal displays the session's title. */
  readonly showsTitle?: true;
  /** The session's title. Absent before the first loop, and where Temporal displays no titles. */
  readonly title?: SessionTitle;
  readonly last: LastLoop | undefined;
  /** The run is a sub-agent's. */
  readonly task?: TaskRequest;
  /** The run is part of another run's work, with this reservation for it and all that it starts. It ends with a report. */
  readonly share?: Allowance;
  /** Its loop is a branch of an evaluation, in the evaluation's session. */
  readonly part?: LoopPart;
  /** Sub-agents that have ended. */
  readonly endedChildren?: EndedChildren;
  /** How the agent wants its work to continue, by its newest call that specifies it. */
  readonly nextRound?: NextRound;
  /** Hooks were notified that the task has ended. */
  readonly isTaskEnded?: true;
};
