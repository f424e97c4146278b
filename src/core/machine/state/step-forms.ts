import type {
  CallModelCommand,
  CloseLoopCommand,
  CompactCommand,
  FilterInputCommand,
  MakeTitleCommand,
  OpenLoopCommand,
  RecordCommand,
  RunHookCommand,
  UpdateDefinitionCommand,
} from "./activity-command.ts";
import type {
  ClosedDigest,
  CompactDigest,
  DefinitionUpdateDigest,
  FilterDigest,
  HookDigest,
  LoopDigest,
  ModelDigest,
  TitleDigest,
  WrittenDigest,
} from "./digest.ts";

/** For each step: the command that requests it, the result of its activity, and the names of its two events. */
export type StepForms = {
  readonly "open-loop": {
    readonly command: OpenLoopCommand;
    readonly digest: LoopDigest;
    readonly done: "loop-opened";
    readonly failed: "open-failed";
  };
  readonly "call-model": {
    readonly command: CallModelCommand;
    readonly digest: ModelDigest;
    readonly done: "model-replied";
    readonly failed: "model-failed";
  };
  readonly compact: {
    readonly command: CompactCommand;
    readonly digest: CompactDigest;
    readonly done: "compacted";
    readonly failed: "compact-failed";
  };
  readonly "filter-input": {
    readonly command: FilterInputCommand;
    readonly digest: FilterDigest;
    readonly done: "input-filtered";
    readonly failed: "filter-failed";
  };
  readonly "run-hook": {
    readonly command: RunHookCommand;
    readonly digest: HookDigest;
    readonly done: "hooks-answered";
    readonly failed: "hook-failed";
  };
  readonly "update-definition": {
    readonly command: UpdateDefinitionCommand;
    readonly digest: DefinitionUpdateDigest;
    readonly done: "definition-updated";
    readonly failed: "definition-update-failed";
  };
  readonly "make-title": {
    readonly command: MakeTitleCommand;
    readonly digest: TitleDigest;
    readonly done: "title-made";
    readonly failed: "title-failed";
  };
  readonly "close-loop": {
    readonly command: CloseLoopCommand;
    readonly digest: ClosedDigest;
    readonly done: "loop-closed";
    readonly failed: "close-failed";
  };
  readonly record: {
    readonly command: RecordCommand;
    readonly digest: WrittenDigest;
    readonly done: "recorded";
    readonly failed: "record-failed";
  };
};

export type StepType = keyof StepForms;
export type StepCommand = StepForms[StepType]["command"];
