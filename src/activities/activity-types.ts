import type {
  EvaluationOpenedDigest,
  JudgeDigest,
  OpenEvaluationCommand,
  PrepareJudgeCommand,
  SelectBranchCommand,
  SelectedBranchDigest,
} from "../core/evaluation/evaluation-digest.ts";
import type { ActivityName } from "../core/machine/activity-names.ts";
import type { RetentionDigest, RetentionInput } from "../core/machine/retention-digest.ts";
import type { CallToolCommand } from "../core/machine/state/activity-command.ts";
import type { LoopDigest, ToolDigest } from "../core/machine/state/digest.ts";
import type { TaskReport } from "../core/machine/state/task.ts";
import type { StepActivities, StepInput } from "../core/machine/steps.ts";
import type { TaskInput } from "../core/machine/task.ts";
import type {
  AnswerCellsInput,
  AnsweredCells,
  EndSuiteInput,
  FinishCellsInput,
  FinishedCells,
  PrepareCellsInput,
  PreparedCells,
  SuiteTotals,
  TakeCellsInput,
  TakenCells,
} from "../core/suite/suite-parts.ts";
import type { AgentDefinitionInput } from "../schema/definition.ts";

// The payloads that cross history. The inputs are commands without the fields that only the driver needs.

export type OpenLoopInput = StepInput<"open-loop"> & {
  /** The first run of the chain that this run belongs to, if that is another run: this run was continued or reset. */
  readonly firstRun?: string;
};
export type CallModelInput = StepInput<"call-model">;
export type CompactInput = StepInput<"compact">;
export type RunHookInput = StepInput<"run-hook">;
export type FilterInputStepInput = StepInput<"filter-input">;
export type UpdateDefinitionInput = StepInput<"update-definition">;
export type MakeTitleInput = StepInput<"make-title">;
export type CloseLoopInput = StepInput<"close-loop">;
export type RecordInput = StepInput<"record">;

export type ToolInput = Omit<
  CallToolCommand,
  "isLocal" | "session" | "timeoutMs" | "queue" | "summary" | "toolName" | "isUnregistered" | "sandbox"
> & {
  readonly session?: string;
  /** The tool's name, when the activity's type is not the name. */
  readonly tool?: string;
};

/** An agent that another workflow starts. This is the input of a local activity, which no history contains. */
export type PrepareAgentInput = {
  /** The name of an agent that the worker was given, or a definition. */
  readonly agent: string | AgentDefinitionInput;
  readonly prompt: string;
};
/** The settings of an agent's run that the options of a worker change. */
export type AgentRunSettings = {
  readonly localSteps?: boolean;
  readonly searchAttributes?: boolean;
  readonly rotateAfterEvents?: number;
  readonly redactContent?: boolean;
};
export type PreparedAgent = {
  readonly definitionHash: string;
  readonly agentName: string;
  /** The hash of the prompt in the transcript. */
  readonly prompt: string;
  readonly settings: AgentRunSettings;
};
export type StoreMessageInput = { readonly text: string };
export type StoredMessage = {
  /** The hash of the text in the transcript. */
  readonly ref: string;
  /** The estimated tokens of the text. */
  readonly tokens: number;
};

/** A sub-agent that ended without a report. */
export type InspectChildInput = { readonly session: string };

/** A run that does not respond to its parent run. */
export type TerminatePartInput = { readonly workflowId: string };

/** The position of the answer whose text is read. */
export type ReadAnswerInput = {
  readonly session: string;
  readonly branch: string;
  readonly position: number;
};
/** Passes the output of one agent of a job to the next; to the caller when `to` is absent. */
export type PassOutputInput = {
  readonly task: TaskInput;
  /** If absent, the task is passed on. */
  readonly from?: {
    readonly name: string;
    readonly session: string;
    readonly definitionHash: string;
    readonly branch?: string;
    readonly loopId?: string;
    /** The agent has ended its work with a call, whose summary is the result. */
    readonly isFinished?: true;
  };
  readonly to?: {
    readonly name: string;
    readonly prompt?: string;
    readonly input?: Readonly<Record<string, unknown>>;
  };
};
export type PassOutputDigest = {
  /** The hash of the text in the transcript. */
  readonly ref: string;
  /** `ref` is the hash of stored parts: the task has images or files. */
  readonly parts?: true;
  /** The estimated tokens of the parts. */
  readonly tokens?: number;
  readonly bytes: number;
  /** At most 32 KiB, for the caller. */
  readonly text?: string;
};

/** The ended parts of a fan-out. */
export type ReduceInput = {
  readonly reducer: string;
  readonly parts: readonly {
    readonly name: string;
    readonly agent: string;
    readonly session: string;
    readonly definitionHash: string;
    /** The outcome of the part. */
    readonly outcome: string;
    readonly branch?: string;
    readonly loopId?: string;
  }[];
};

/**
 * The input and output of each activity. An activity whose name is not in `ACTIVITY_NAMES` is not part of
 * `Activities`.
 */
type ActivitySignatures = Omit<StepActivities, "open-loop"> & {
  readonly "open-loop": (input: OpenLoopInput) => Promise<LoopDigest>;
  readonly "inspect-child": (input: InspectChildInput) => Promise<TaskReport | null>;
  readonly "terminate-part": (input: TerminatePartInput) => Promise<void>;
  readonly "read-answer": (input: ReadAnswerInput) => Promise<string | null>;
  readonly "pass-output": (input: PassOutputInput) => Promise<PassOutputDigest>;
  readonly "reduce-parts": (input: ReduceInput) => Promise<PassOutputDigest>;
  readonly "open-evaluation": (input: OpenEvaluationCommand) => Promise<EvaluationOpenedDigest>;
  readonly "prepare-judge": (input: PrepareJudgeCommand) => Promise<JudgeDigest>;
  readonly "select-branch": (input: SelectBranchCommand) => Promise<SelectedBranchDigest>;
  readonly "apply-retention": (input: RetentionInput) => Promise<RetentionDigest>;
  readonly "take-cells": (input: TakeCellsInput) => Promise<TakenCells>;
  readonly "answer-cells": (input: AnswerCellsInput) => Promise<AnsweredCells>;
  readonly "prepare-cells": (input: PrepareCellsInput) => Promise<PreparedCells>;
  readonly "finish-cells": (input: FinishCellsInput) => Promise<FinishedCells>;
  readonly "end-suite": (input: EndSuiteInput) => Promise<SuiteTotals>;
  readonly "prepare-agent": (input: PrepareAgentInput) => Promise<PreparedAgent>;
  readonly "store-message": (input: StoreMessageInput) => Promise<StoredMessage>;
  readonly "call-tool": ToolActivity;
};

/** The activities by type. Every other type is the name of a tool, with `ToolInput` and `ToolDigest`. */
export type Activities = Pick<ActivitySignatures, ActivityName>;

export type ToolActivity = (input: ToolInput) => Promise<ToolDigest>;
