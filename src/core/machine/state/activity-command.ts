import type { Continuation } from "../../../schema/continuation.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { Limits } from "../../../schema/limits.ts";
import type { QuestionRecord } from "../../../schema/loop-event.ts";
import type { Usage } from "../../../schema/message.ts";
import type { Outcome, SpawnRef } from "../../../schema/record.ts";
import type { SandboxMode } from "../../../schema/sandbox.ts";
import type { Allowance } from "../../budget/account-state.ts";
import type { Cost } from "../../budget/usage.ts";
import type { LoopPart } from "../../evaluation/loop-part.ts";
import type { Grant } from "../../permission/grants.ts";
import type { ViewSnapshot } from "../../view/view.ts";
import type { ViewRanges } from "../../view/view-ranges.ts";
import type { ToolView } from "../../view/view-request.ts";
import type { CompactionCounts, CompactionReason } from "./compaction.ts";
import type { InboundMessage, Prompt } from "./inbound-message.ts";
import type { NewBranch, Outbox } from "./outbox.ts";

// The commands for activities. Each has a number, and a generation that rises with each new dispatch of the same command.

type Numbered = { readonly number: number; readonly generation: number };

/** Where the activity writes, and what it writes first. */
type WriteCommand = Numbered & {
  readonly branch: string;
  /** The first position that this command may write. */
  readonly base: number;
  readonly outbox: Outbox;
  /** The command continues on a branch of its own, which leaves `branch` at this point. */
  readonly newBranch?: NewBranch;
};

/** A command of a turn, or of the time between two loops. */
type TurnCommand = WriteCommand & {
  readonly session: string;
  /** Empty when no loop is open. */
  readonly loopId: string;
  readonly definitionHash: string;
  /** The loop's turn, or the one that comes next. */
  readonly turn: number;
};

export type OpenLoopCommand = Numbered & {
  readonly type: "open-loop";
  readonly session: string;
  readonly definition?: AgentDefinition;
  readonly definitionHash?: string;
  readonly prompts: readonly Prompt[];
  readonly continuation?: Continuation;
  /** The loop is a sub-agent's. */
  readonly spawn?: SpawnRef;
  /** The loop is a branch of an evaluation. */
  readonly part?: LoopPart;
  /** What earlier loops of the run have left. */
  readonly expectedHead?: { readonly branch: string; readonly length: number };
  /** The session's title, as the user has requested it; by default the first words of the first message. */
  readonly title?: string;
  /** The run works for another one: the agent's name precedes a title that is derived. */
  readonly isPart?: true;
  /** The result contains the title. */
  readonly showsTitle?: true;
};

export type CallModelCommand = TurnCommand & {
  readonly type: "call-model";
  readonly view: ViewRanges;
  /** The position of the answer. */
  readonly position: number;
  /** The call that the run works for, when it is a sub-agent's. */
  readonly caller?: SpawnRef;
  /** The previous answer did not match: this one must be the output and nothing else. */
  readonly isRepair?: true;
  /** The model must answer with text: it may make no call. */
  readonly textOnly?: true;
  /** The result is reported without text of the conversation. */
  readonly redactContent?: true;
  /** When the loop's time ends, if it ends: a step that would wait longer is given back. */
  readonly deadlineMs?: number;
  /** How often the vendor may still be called. */
  readonly maxAttempts: number;
};

export type CompactCommand = TurnCommand & {
  readonly type: "compact";
  readonly view: ViewRanges;
  /** The position of the compaction's entry. */
  readonly position: number;
  /** How often a vendor may be called for a summary. */
  readonly maxAttempts: number;
  /** The tokens that the next request would carry, by the machine's count. */
  readonly contextTokens: number;
  /** The estimate of the view alone. Absent in commands of runs that began before it was stored. */
  readonly viewTokens?: number;
  readonly reason: CompactionReason;
};

/** Runs the input filters on waiting messages before a turn takes them. Writes nothing of its own. */
export type FilterInputCommand = TurnCommand & {
  readonly type: "filter-input";
  readonly messages: readonly InboundMessage[];
  readonly maxAttempts: number;
};

export type CallToolCommand = TurnCommand & {
  /** The index among the answer's calls. */
  readonly call: number;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The call's activity is `call-tool`, and not of the tool's name. */
  readonly isUnregistered?: true;
  /** The sandbox of its processes, for the timeline. */
  readonly sandbox?: SandboxMode;
  /** The position of the assistant message, which has the arguments. */
  readonly answer: number;
  /** The position of the result. */
  readonly position: number;
  /** The call runs as a local activity, and carries no outbox (docs/decisions/0009). */
  readonly isLocal: boolean;
  /** Replaces the model's arguments; set by the user. */
  readonly changedArguments?: Readonly<Record<string, unknown>>;
  /** What the tool has asked the user before. */
  readonly questions?: readonly QuestionRecord[];
  /** Only for tools that receive it. */
  readonly view?: ToolView;
  /** The result is reported without text of the conversation. */
  readonly redactContent?: true;
  readonly timeoutMs?: number;
  readonly queue?: string;
  readonly summary: string;
  /** The call that the run works for, when it is a sub-agent's. */
  readonly caller?: SpawnRef;
  /** The tool is an agent: the call is a run of its own, with its reservation. */
  readonly child?: {
    readonly definitionHash: string;
    readonly allocation: Allowance;
    /** The maximum of its turns that the call has set. */
    readonly maxTurns?: number;
    readonly session?: string;
  };
};

/** Calls the hooks of one point. */
export type RunHookCommand = TurnCommand & {
  readonly type: "run-hook";
  readonly question: HookInput;
  /** A stop waits for the hooks: together they get at most ten seconds. */
  readonly isBrief?: true;
  /** Present where the hooks receive what the model sees. */
  readonly view?: ViewRanges;
};

export type HookInput =
  | { readonly point: "before-turn" | "after-task" }
  | { readonly point: "after-turn"; readonly usage: Usage }
  /** `position`: the position of the answer. */
  | { readonly point: "on-error" | "on-text"; readonly position: number }
  | {
      readonly point: "before-compaction";
      readonly estimatedTokens: number;
      readonly messageCount: number;
    }
  | ({ readonly point: "after-compaction" } & CompactionCounts)
  /** The calls of one unit, in call order. */
  | {
      readonly point: "before-tool" | "after-tool";
      /** The position of the assistant message, which has the arguments. */
      readonly answer: number;
      readonly calls: readonly {
        readonly call: number;
        readonly toolCallId: string;
        readonly toolName: string;
        /** Present after the call's end. */
        readonly isError?: boolean;
      }[];
    };

/** Pins the run to another definition, if possible. */
export type UpdateDefinitionCommand = WriteCommand & {
  readonly type: "update-definition";
  readonly session: string;
  /** Empty when no loop is open. */
  readonly loopId: string;
  /** The turn that comes next. */
  readonly turn: number;
  readonly from: string;
  readonly to: string;
  /** The limits that apply at this moment. */
  readonly limits: Limits;
};

/** Asks the model for a title of the session, once its loop is answered. */
export type MakeTitleCommand = TurnCommand & {
  readonly type: "make-title";
  /** The loop's first position, at or after which its first message is. */
  readonly from: number;
  /** The position of the last answer. */
  readonly answer: number;
  /** The result contains the title. */
  readonly showsTitle?: true;
  readonly maxAttempts: number;
};

export type CloseLoopCommand = WriteCommand & {
  readonly type: "close-loop";
  readonly session: string;
  readonly loopId: string;
  readonly outcome: Outcome;
  /** Present where hooks are notified of the loop's end, and where the last answer is the structured output. */
  readonly definitionHash?: string;
  /** The position of the last answer, whose text the run returns. */
  readonly answer?: number;
  /** The last answer is the structured output. */
  readonly isOutput?: true;
  /** The run ends with a report, which needs the position of the last text. */
  readonly isTask?: true;
  readonly turns: number;
  readonly costUsd: Cost;
  /** What the model of the next loop sees of all this; absent when it sees all of it. */
  readonly view?: ViewSnapshot;
  /** What the user has allowed for the session; absent when nothing. */
  readonly grants?: readonly Grant[];
};

export type RecordCommand = WriteCommand & {
  readonly type: "record";
  readonly session: string;
  readonly loopId?: string;
  readonly inbox: readonly InboundMessage[];
};
