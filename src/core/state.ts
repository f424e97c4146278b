import type { AgentDefinition, Continuation, QueueMode } from "../schema/definition.ts";
import type { EntryOrigin, Outcome } from "../schema/record.ts";
import type { Allowance, Amounts } from "./budget/amounts.ts";
import type { Calling } from "./calling.ts";
import type { ChildrenOver } from "./children-shown.ts";
import type { Reported } from "./compaction/trigger.ts";
import type { CompactDigest, PinnedDigest } from "./digest.ts";
import type { LoopPart } from "./evaluation/part.ts";
import type { Grant } from "./grants.ts";
import type { HookQuestion } from "./hook-question.ts";
import type { LastLoop, OpenLoop } from "./loop-state.ts";
import type { Fork, Outbox } from "./outbox.ts";
import type { Rest, TaskRef, TaskRequest } from "./task.ts";
import type { Cost } from "./usage.ts";
import type { View } from "./view.ts";
import type { RevertRequest } from "./view-request.ts";
import type { RefusedMessages } from "./waiting-messages.ts";

// The state is the whole truth about a run between two commands: one JSON value, small however long the session.
//
// Invariants
//   I1. `next(state)` is a function of the state alone, and the same each time that it is asked.
//   I2. A message that was accepted is in a queue, in the outbox, in the command in flight, or in the transcript:
//       never in two of them, never in none.
//   I3. Every call of an answer gets exactly one result, at the position after the answer plus its index.
//   I4. Every loop that was opened has one AgentEnd, and events are numbered from 0 without a gap.
//   I5. No text of a conversation is in the state, except words of people that nobody has taken yet.
//   I6. A share is set aside for each sub-agent at work and for none else, out of what is left; of one that is over
//       counts what it has used.

/** The shape of `State`. A run carries it across continue-as-new; a worker refuses a newer one. */
export const STATE_VERSION = 1;

/** The newest rule set. A change of what `next` or `apply` does adds one and keeps the old road (design 3.15). */
export const RULES = 1;

/** A message of a person: its words, or the hash they are stored under when they are too long to travel. */
export type PersonMessage = {
  /** Made by the sender; a message with a known id is not taken twice. */
  readonly id: string;
  readonly text?: string;
  readonly ref?: string;
  /** The words are a task, and stand in the record of the agent that has called. */
  readonly task?: TaskRef;
  readonly atMs: number;
  /** The input filters let it pass, with a warning perhaps. Absent: nobody has asked them. */
  readonly filtered?: { readonly warning?: string };
};

export type Queues = {
  readonly steering: readonly PersonMessage[];
  readonly followUps: readonly PersonMessage[];
  /** Set by an operator; the definition's own until then. */
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
};

/** A command that was given out: enough to give it out again. */
export type Issue = {
  /** The number of the command within the session's run, and the same when it is given out again. */
  readonly number: number;
  /** Rises when it is given out again: who works on an older one may not write. */
  readonly generation: number;
  /** Workers that died over it, in a row. */
  readonly lost: number;
  /** How much of the outbox goes with it. */
  readonly carries: { readonly entries: number; readonly events: number };
};

export type Prompt = PersonMessage & { readonly origin: EntryOrigin };

/** Why a view is made smaller: it has grown to its bound, a person asked, or the vendor said that it does not fit. */
export type CompactionReason =
  | { readonly type: "grown" }
  | { readonly type: "asked"; readonly focus?: string }
  | { readonly type: "overflow"; readonly said: string };

export type CompactionCounts = Pick<
  CompactDigest,
  "messagesBefore" | "messagesAfter" | "tokensBefore" | "tokensAfter"
>;

/** Where the run stands. Each phase carries what it needs, and no other. */
export type Phase =
  /** Before the driver has let in what came together with the start. */
  | {
      readonly type: "starting";
      readonly prompts: readonly PersonMessage[];
      readonly continuation?: Continuation;
    }
  | {
      readonly type: "opening";
      readonly issue: Issue;
      readonly prompts: readonly Prompt[];
      readonly continuation?: Continuation;
    }
  /**
   * `compacted`: the context was made smaller for this answer already, because the vendor refused it. `waits`: nobody asks
   * now; the vendor is left alone until then, and why.
   */
  | {
      readonly type: "calling-model";
      readonly issue: Issue;
      readonly attemptsBefore: number;
      readonly compacted?: boolean;
      readonly waits?: { readonly untilMs: number; readonly fault: string; readonly message: string };
    }
  | { readonly type: "compacting"; readonly issue: Issue; readonly why: CompactionReason }
  /** The input filters are asked about these messages, which stay in their queue until the turn begins. */
  | {
      readonly type: "filtering";
      readonly issue: Issue;
      readonly source: TurnSource;
      readonly ids: readonly string[];
    }
  | Calling
  /** `brief`: they are told behind a stop. */
  | {
      readonly type: "hooking";
      readonly issue: Issue;
      readonly question: HookQuestion;
      readonly brief?: true;
    }
  /** The run is moved to the definition of this hash. */
  | { readonly type: "moving"; readonly issue: Issue; readonly to: string; readonly then: BehindMove }
  | { readonly type: "closing"; readonly issue: Issue; readonly outcome: Outcome }
  | {
      readonly type: "recording";
      readonly issue: Issue;
      readonly inbox: readonly PersonMessage[];
      readonly afterwards: AfterRecord;
    }
  | { readonly type: "waiting"; readonly sinceMs: number; readonly untilMs: number | undefined }
  | { readonly type: "rotating"; readonly resume: Resume }
  | { readonly type: "ended" }
  | Passing;

/** Places that a run only passes through: `apply` never leaves it in one (see advance.ts). */
type Passing =
  | { readonly type: "turn-due"; readonly source: TurnSource }
  /** `announces`: the answer announces a tool call and makes none. `output`: what was found of one that claims to be the last. */
  | {
      readonly type: "turn-over";
      readonly position: number;
      readonly results: number;
      readonly announces?: true;
      /** The model wants to go back. */
      readonly reverts?: readonly RevertRequest[];
      readonly output?: "accepted" | "mismatch";
    }
  | { readonly type: "loop-over" };

/** What a run that continued as new goes on with. */
export type Resume =
  | { readonly type: "turn"; readonly source: TurnSource }
  | { readonly type: "wait"; readonly sinceMs: number; readonly untilMs: number | undefined };

/** What a run goes on with when its definition was moved. */
export type BehindMove =
  | Resume
  | { readonly type: "close"; readonly outcome: Outcome }
  | { readonly type: "loop-over" };

/** What a turn begins with. */
export type TurnSource = "opening" | "calls" | "steering" | "follow-up" | "nudge" | "repair" | "on-text";

/** What a small `record` step was needed for. */
type AfterRecord = Resume | { readonly type: "end" };

/** What a run is asked to be pinned to: the definition itself until the first loop is open, its hash from then on. */
export type Asked = { readonly definition?: AgentDefinition; readonly hash?: string };

export type State = {
  readonly version: typeof STATE_VERSION;
  readonly rules: number;
  readonly session: string;
  /** A `run` ends when there is nothing left to do; an `interactive` one waits for the next prompt. */
  readonly mode: "run" | "interactive";
  /** How long an interactive run waits for a prompt before it ends; `null` waits for ever. */
  readonly idleTimeoutMs: number | null;
  /** Quick tools run as local activities. */
  readonly localSteps: boolean;
  /** What is shown of the run holds no words. */
  readonly words?: "none";
  readonly asked: Asked;
  /** What `open-loop` pinned, kept for the rest of the run. */
  readonly pinned: PinnedDigest | undefined;
  /** The time of the last event, by the workflow's clock. */
  readonly nowMs: number;
  /** The number of the next command. */
  readonly commands: number;
  readonly phase: Phase;
  readonly queues: Queues;
  /** Ids of the newest messages that were accepted, oldest first. */
  readonly recentIds: readonly string[];
  /** Messages for which the queues had no room; absent for none. */
  readonly refused?: RefusedMessages;
  readonly outbox: Outbox;
  /** The branch that is written to, and its length: the next position. */
  readonly branch: string;
  readonly length: number;
  /** The branch is still to be begun, by the next command that writes. */
  readonly fork?: Fork;
  readonly view: View;
  /** What the vendor has counted last; estimates stand for what came after (CTX-05). */
  readonly counted?: Reported;
  /** A person has asked for a compaction: it comes before the next answer. */
  readonly compact?: { readonly focus?: string };
  /** A person has asked for another definition: the run is moved to it before the next turn, or before its loop ends. */
  readonly update?: { readonly hash: string };
  /** What became of the newest wish for another definition. */
  readonly lastMove?: { readonly to: string; readonly refused?: string };
  readonly loop: OpenLoop | undefined;
  readonly stop: { readonly reason: string } | undefined;
  /** The run should continue as new at the next turn's edge. */
  readonly rotate: boolean;
  /** Of all loops of this session's run. */
  readonly totals: {
    readonly loops: number;
    readonly turns: number;
    readonly costUsd: Cost;
    /** Spent by sub-agents of loops that are closed. Absent for 0. */
    readonly costBelowUsd?: Cost;
    /** Of a run that ends with a report: for the one that has started it. Absent for 0. */
    readonly messages?: number;
    readonly used?: Amounts;
    readonly waitedMs?: number;
  };
  /** What a person has allowed for the rest of the session, newest last. */
  readonly grants?: readonly Grant[];
  /** The first words that were asked, at most 256 bytes: what an operator reads first. */
  readonly goal: string;
  readonly last: LastLoop | undefined;
  /** The run is a sub-agent's. */
  readonly task?: TaskRequest;
  /** The run is a part of another's work: what is set aside for it, and for all that it starts. It ends with a report. */
  readonly share?: Allowance;
  /** Its loop is one of an evaluation's, in that one's session. */
  readonly part?: LoopPart;
  /** Sub-agents that are over. */
  readonly childrenOver?: ChildrenOver;
  /** How the agent wants its work to go on, by its newest call that says so. */
  readonly rest?: Rest;
  /** Hooks were told that the task is over. */
  readonly taskOver?: true;
};
