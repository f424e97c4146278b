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
import type { CallToolCommand } from "../core/machine/state/command.ts";
import type { LoopDigest, ToolDigest } from "../core/machine/state/digest.ts";
import type { StepActivities, StepInput } from "../core/machine/steps.ts";
import type { TaskInput, TaskReport } from "../core/machine/task.ts";

// What crosses history: the inputs are commands without what only the driver needs.

export type OpenLoopInput = StepInput<"open-loop"> & {
  /** Of the chain of runs that this one belongs to, where it is not this one itself: it was continued, or reset. */
  readonly firstRun?: string;
};
export type CallModelInput = StepInput<"call-model">;
export type CompactInput = StepInput<"compact">;
export type RunHookInput = StepInput<"run-hook">;
export type FilterInputStepInput = StepInput<"filter-input">;
export type UpdateDefinitionInput = StepInput<"move-definition">;
export type CloseLoopInput = StepInput<"close-loop">;
export type RecordInput = StepInput<"record">;

export type ToolInput = Omit<
  CallToolCommand,
  "local" | "session" | "timeoutMs" | "queue" | "summary" | "toolName"
> & { readonly session?: string };

/** A sub-agent that is gone without a report. */
export type InspectChildInput = { readonly session: string };

/** A run that does not answer the one that it is a part of. */
export type TerminatePartInput = { readonly workflow: string };

/** Where an answer stands whose words are wanted. */
export type ReadAnswerInput = {
  readonly session: string;
  readonly branch: string;
  readonly position: number;
};
/** What one agent of a job has said, for the next; for whoever asked when `to` is absent. */
export type PassOutputInput = {
  readonly task: TaskInput;
  /** Absent: the task is handed over. */
  readonly from?: {
    readonly name: string;
    readonly session: string;
    readonly definitionHash: string;
    readonly branch?: string;
    readonly loopId?: string;
    /** It has said so by a call, whose summary is the result. */
    readonly finished?: true;
  };
  readonly to?: {
    readonly name: string;
    readonly prompt?: string;
    readonly input?: Readonly<Record<string, unknown>>;
  };
};
export type PassOutputDigest = {
  /** Of the words, in the transcript. */
  readonly ref: string;
  readonly bytes: number;
  /** At most 32 KiB, for whoever asked. */
  readonly text?: string;
};

/** Parts of a fan-out that are over. */
export type ReduceInput = {
  readonly reducer: string;
  readonly parts: readonly {
    readonly name: string;
    readonly agent: string;
    readonly session: string;
    readonly definitionHash: string;
    /** How it ended. */
    readonly outcome: string;
    readonly branch?: string;
    readonly loopId?: string;
  }[];
};

/** What each activity takes and gives. One whose name is not in `ACTIVITY_NAMES` is not part of `Activities`. */
type ActivitySignatures = Omit<StepActivities, "open-loop"> & {
  readonly "open-loop": (input: OpenLoopInput) => Promise<LoopDigest>;
  readonly "look-at-child": (input: InspectChildInput) => Promise<TaskReport | null>;
  readonly "end-part": (input: TerminatePartInput) => Promise<void>;
  readonly "last-words": (input: ReadAnswerInput) => Promise<string | null>;
  readonly "hand-over": (input: PassOutputInput) => Promise<PassOutputDigest>;
  readonly "reduce-parts": (input: ReduceInput) => Promise<PassOutputDigest>;
  readonly "open-evaluation": (input: OpenEvaluationCommand) => Promise<EvaluationOpenedDigest>;
  readonly weigh: (input: PrepareJudgeCommand) => Promise<JudgeDigest>;
  readonly decide: (input: SelectBranchCommand) => Promise<SelectedBranchDigest>;
  readonly retain: (input: RetentionInput) => Promise<RetentionDigest>;
};

/** The activities by type. Every other type is the name of a tool, with `ToolInput` and `ToolDigest`. */
export type Activities = Pick<ActivitySignatures, ActivityName>;

export type ToolActivity = (input: ToolInput) => Promise<ToolDigest>;
