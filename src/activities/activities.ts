import type {
  CallModelCommand,
  CallToolCommand,
  CloseLoopCommand,
  CompactCommand,
  FilterInputCommand,
  OpenLoopCommand,
  RecordCommand,
  RunHookCommand,
} from "../core/command.ts";
import type {
  ClosedDigest,
  CompactDigest,
  FilterDigest,
  HookDigest,
  LoopDigest,
  ModelDigest,
  ToolDigest,
  WrittenDigest,
} from "../core/digest.ts";
import type {
  DecidedDigest,
  DecideEvaluation,
  EvaluationOpenedDigest,
  OpenEvaluation,
  WeighEvaluation,
  WeighedDigest,
} from "../core/evaluation/digest.ts";
import type { TaskReport } from "../core/task.ts";

// What crosses history: the inputs are commands without what only the driver needs.

/** The session is the workflow id, unless the run is one of an evaluation's. */
type InSession = { readonly session?: string };

export type OpenLoopInput = Omit<OpenLoopCommand, "type" | "session"> & InSession;
export type ModelInput = Omit<CallModelCommand, "type" | "session" | "maxAttempts"> & InSession;
export type ToolInput = Omit<
  CallToolCommand,
  "local" | "session" | "timeoutMs" | "queue" | "summary" | "toolName"
> &
  InSession;
export type CompactInput = Omit<CompactCommand, "type" | "session" | "maxAttempts"> & InSession;
export type RunHookInput = Omit<RunHookCommand, "type" | "session"> & InSession;
export type FilterInputInput = Omit<FilterInputCommand, "type" | "session" | "maxAttempts"> & InSession;
export type CloseLoopInput = Omit<CloseLoopCommand, "type" | "session"> & InSession;
export type RecordInput = Omit<RecordCommand, "type" | "session"> & InSession;

/** A sub-agent that is gone without a report. */
export type LookAtChildInput = { readonly session: string };

/** The activities by type. Every other type is the name of a tool, with `ToolInput` and `ToolDigest`. */
export type Activities = {
  readonly "open-loop": (input: OpenLoopInput) => Promise<LoopDigest>;
  readonly model: (input: ModelInput) => Promise<ModelDigest>;
  readonly compact: (input: CompactInput) => Promise<CompactDigest>;
  readonly "run-hook": (input: RunHookInput) => Promise<HookDigest>;
  readonly "filter-input": (input: FilterInputInput) => Promise<FilterDigest>;
  readonly "close-loop": (input: CloseLoopInput) => Promise<ClosedDigest>;
  readonly "look-at-child": (input: LookAtChildInput) => Promise<TaskReport | null>;
  readonly record: (input: RecordInput) => Promise<WrittenDigest>;
  readonly "open-evaluation": (input: OpenEvaluation) => Promise<EvaluationOpenedDigest>;
  readonly weigh: (input: WeighEvaluation) => Promise<WeighedDigest>;
  readonly decide: (input: DecideEvaluation) => Promise<DecidedDigest>;
};

export type ToolActivity = (input: ToolInput) => Promise<ToolDigest>;
