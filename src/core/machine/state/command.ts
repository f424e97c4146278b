import type { AgentDefinition, Continuation, Limits } from "../../../schema/definition.ts";
import type { Usage } from "../../../schema/message.ts";
import type { Outcome, QuestionRecord, SpawnRef } from "../../../schema/record.ts";
import type { Allowance } from "../../budget/amounts.ts";
import type { Cost } from "../../budget/usage.ts";
import type { LoopPart } from "../../evaluation/loop-part.ts";
import type { Grant } from "../../permission/grants.ts";
import type { ViewSnapshot } from "../../view/view.ts";
import type { ViewRanges } from "../../view/view-ranges.ts";
import type { ToolView } from "../../view/view-request.ts";
import type { NewBranch, Outbox } from "../outbox.ts";
import type { StepCommand } from "../steps.ts";
import type { TaskReport } from "../task.ts";
import type { LastLoop } from "./loop-state.ts";
import type { CompactionCounts, CompactionReason, InboundMessage, Prompt } from "./state.ts";

// What the driver must do. Every command that goes to an activity has a number, and a generation that rises when
// it is given out again.

type Numbered = { readonly number: number; readonly generation: number };

/** Where the activity writes, and what it writes first. */
type WriteCommand = Numbered & {
  readonly branch: string;
  /** The first position that this command may write. */
  readonly base: number;
  readonly outbox: Outbox;
  /** It goes on in a branch of its own, which leaves `branch` there. */
  readonly fork?: NewBranch;
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
  /** The loop is one of an evaluation's. */
  readonly part?: LoopPart;
  /** What earlier loops of the run have left. */
  readonly expects?: { readonly branch: string; readonly length: number };
};

export type CallModelCommand = WriteCommand & {
  readonly type: "call-model";
  readonly session: string;
  readonly loopId: string;
  readonly definitionHash: string;
  readonly turn: number;
  readonly view: ViewRanges;
  /** Where the answer goes. */
  readonly position: number;
  /** The call that the run works for, where it is a sub-agent's. */
  readonly caller?: SpawnRef;
  /** The answer before did not fit: this one is to be the output, and nothing else. */
  readonly repair?: true;
  /** What it comes to is told without words. */
  readonly words?: "none";
  /** When the loop's time is over, if it has an end: what would wait longer is given back. */
  readonly deadlineMs?: number;
  /** How often the vendor may still be asked. */
  readonly maxAttempts: number;
};

export type CompactCommand = WriteCommand & {
  readonly type: "compact";
  readonly session: string;
  readonly loopId: string;
  readonly definitionHash: string;
  readonly turn: number;
  readonly view: ViewRanges;
  /** Where the compaction's entry goes. */
  readonly position: number;
  /** How often a vendor may be asked for a text. */
  readonly maxAttempts: number;
  /** What the next request would carry, by the machine's count. */
  readonly tokens: number;
  /** The estimate of the view alone. Absent in commands of runs that began before it was kept. */
  readonly estimated?: number;
  readonly why: CompactionReason;
};

/** Asks the input filters about words that wait, before a turn takes them up. Writes nothing of its own. */
export type FilterInputCommand = WriteCommand & {
  readonly type: "filter-input";
  readonly session: string;
  readonly loopId: string;
  readonly definitionHash: string;
  /** Of the turn that comes next. */
  readonly turn: number;
  readonly messages: readonly InboundMessage[];
  readonly maxAttempts: number;
};

export type CallToolCommand = WriteCommand & {
  readonly session: string;
  readonly loopId: string;
  readonly definitionHash: string;
  readonly turn: number;
  /** The index among the answer's calls. */
  readonly call: number;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Of the assistant message, which holds the arguments. */
  readonly answer: number;
  /** Where the result goes. */
  readonly position: number;
  /** As a local activity: it takes no outbox along (docs/decisions/0009). */
  readonly local: boolean;
  /** What a person has put in place of the model's arguments. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** What the tool has asked a person before. */
  readonly questions?: readonly QuestionRecord[];
  /** Only for tools that are given it. */
  readonly view?: ToolView;
  /** What it comes to is told without words. */
  readonly words?: "none";
  readonly timeoutMs?: number;
  readonly queue?: string;
  readonly summary: string;
  /** The call that the run works for, where it is a sub-agent's. */
  readonly caller?: SpawnRef;
  /** It is an agent: the call is a run of its own, with what is reserved for it. */
  readonly child?: { readonly definitionHash: string; readonly given: Allowance; readonly session?: string };
};

export type CallToolsCommand = {
  readonly type: "call-tools";
  readonly calls: readonly CallToolCommand[];
  /** What waits is written down beside them, because none of them takes it along. */
  readonly beside?: RecordCommand;
};

/** Hooks of one point are asked, or told. */
export type RunHookCommand = WriteCommand & {
  readonly type: "run-hook";
  readonly session: string;
  /** Empty when no loop is open. */
  readonly loopId: string;
  readonly definitionHash: string;
  readonly turn: number;
  readonly ask: HookInput;
  /** A stop waits for them: they are given no more than ten seconds together. */
  readonly brief?: true;
  /** Where they are told what the model sees. */
  readonly view?: ViewRanges;
};

export type HookInput =
  | { readonly point: "before-turn" | "after-task" }
  | { readonly point: "after-turn"; readonly usage: Usage }
  /** `position`: of the answer. */
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
      /** Of the assistant message, which holds the arguments. */
      readonly answer: number;
      readonly calls: readonly {
        readonly call: number;
        readonly toolCallId: string;
        readonly toolName: string;
        /** Behind its end. */
        readonly isError?: boolean;
      }[];
    };

/** Pins the run to another definition, if that can be. */
export type UpdateDefinitionCommand = WriteCommand & {
  readonly type: "move-definition";
  readonly session: string;
  /** Empty when no loop is open. */
  readonly loopId: string;
  /** Of the turn that comes next. */
  readonly turn: number;
  readonly from: string;
  readonly to: string;
  /** That hold now. */
  readonly limits: Limits;
};

export type CloseLoopCommand = WriteCommand & {
  readonly type: "close-loop";
  readonly session: string;
  readonly loopId: string;
  readonly outcome: Outcome;
  /** Where hooks are told that the loop is over, and where the last answer is the structured output. */
  readonly definitionHash?: string;
  /** The last answer, whose text the run gives back. */
  readonly answer?: number;
  /** The last answer is the structured output. */
  readonly isOutput?: true;
  /** The run ends with a report: the last words are looked for. */
  readonly isTask?: true;
  readonly turns: number;
  readonly costUsd: Cost;
  /** What the next loop's model sees of all this; absent when it is all of it. */
  readonly view?: ViewSnapshot;
  /** What a person has allowed for the session; absent when nothing. */
  readonly grants?: readonly Grant[];
};

export type RecordCommand = WriteCommand & {
  readonly type: "record";
  readonly session: string;
  readonly loopId?: string;
  readonly inbox: readonly InboundMessage[];
};

/** Nothing to do until something arrives, or until the time has come. */
type WaitCommand = { readonly type: "wait"; readonly untilMs: number | undefined };

/** Continue as new with the state as it is. */
type RotateCommand = { readonly type: "rotate" };

export type FinishCommand = {
  readonly type: "finish";
  /** The run was a part of another's work. */
  readonly report?: TaskReport;
  readonly last: LastLoop;
  readonly branch: string;
};

export type Command = StepCommand | CallToolsCommand | WaitCommand | RotateCommand | FinishCommand;
