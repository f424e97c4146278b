import type { CompactCommand } from "./state/activity-command.ts";
import type { Command } from "./state/command.ts";
import type { Phase } from "./state/state.ts";
import type { StepCommand, StepForms, StepType } from "./state/step-forms.ts";

// The steps of a run: what it does by one activity of ours at a time. Tool calls are separate, because many of them run
// at once and each has its tool's name as its activity type.
//
// Everything that knows all steps is derived from `StepForms` and `STEPS`: commands, events, activity types with their
// inputs and outputs, timeouts and retries, names that no tool may have. A new step is a row in each of the two, a phase in
// state/state.ts, a case in `next` and in `apply`, and an activity; a missing part does not compile.

type DigestOf<Type extends StepType> = StepForms[Type]["digest"];

type Step<Type extends StepType> = {
  /** The activity's type in the Temporal UI and in metrics. */
  readonly activity: string;
  /** The phase of a run that waits for the step. */
  readonly phase: Phase["type"];
  readonly done: StepForms[Type]["done"];
  readonly failed: StepForms[Type]["failed"];
  /**
   * How Temporal retries the activity. `write`: it only writes, and is retried until the store answers. `ask`: it may call a
   * vendor or an application, at most as often as the command says (`maxAttempts`), by default `ASK_ATTEMPTS` times.
   */
  readonly retry: "write" | "ask";
  /** What the timeline displays beside the activity's type. */
  readonly label: (command: StepForms[Type]["command"], model: string | undefined) => string;
};

const COMPACTION_REASONS = {
  size: "the context has grown",
  request: "on request",
  overflow: "the context does not fit",
} satisfies Record<CompactCommand["reason"]["type"], string>;

export const STEPS = {
  "open-loop": {
    activity: "open-loop",
    phase: "opening",
    done: "loop-opened",
    failed: "open-failed",
    retry: "write",
    label: () => "opens the loop",
  },
  "call-model": {
    activity: "call-model",
    phase: "calling-model",
    done: "model-replied",
    failed: "model-failed",
    retry: "ask",
    label: ({ turn }, model) => `turn ${turn} · ${model ?? "model"}`,
  },
  compact: {
    activity: "compact",
    phase: "compacting",
    done: "compacted",
    failed: "compact-failed",
    retry: "ask",
    label: ({ turn, reason }) => `turn ${turn} · ${COMPACTION_REASONS[reason.type]}`,
  },
  "filter-input": {
    activity: "filter-input",
    phase: "filtering",
    done: "input-filtered",
    failed: "filter-failed",
    retry: "ask",
    label: ({ turn, messages }) => `turn ${turn} · ${messages.length} waiting`,
  },
  "run-hook": {
    activity: "run-hook",
    phase: "running-hooks",
    done: "hooks-answered",
    failed: "hook-failed",
    retry: "ask",
    label: ({ turn, question }) => `turn ${turn} · ${question.point}`,
  },
  "update-definition": {
    activity: "update-definition",
    phase: "updating-definition",
    done: "definition-updated",
    failed: "definition-update-failed",
    retry: "write",
    label: ({ turn }) => `turn ${turn}`,
  },
  "make-title": {
    activity: "make-title",
    phase: "titling",
    done: "title-made",
    failed: "title-failed",
    retry: "ask",
    label: (_, model) => model ?? "model",
  },
  "close-loop": {
    activity: "close-loop",
    phase: "closing",
    done: "loop-closed",
    failed: "close-failed",
    retry: "write",
    label: ({ outcome }) => outcome.type,
  },
  record: {
    activity: "record",
    phase: "recording",
    done: "recorded",
    failed: "record-failed",
    retry: "write",
    label: ({ inbox }) => formatRecordLabel(inbox.length),
  },
} as const satisfies { readonly [Type in StepType]: Step<Type> };

/** Formats what the timeline displays beside `record`. @param waiting - The messages that go to the session's inbox. */
export function formatRecordLabel(waiting: number): string {
  if (waiting === 0) return "what happened so far";
  return `${waiting} ${waiting === 1 ? "message" : "messages"} for the inbox`;
}

type Steps = typeof STEPS;

/** The commands of the steps that call a vendor or an application. */
export type RetryableCommand = {
  [Type in StepType]: Steps[Type]["retry"] extends "ask" ? StepForms[Type]["command"] : never;
}[StepType];

export function isStep(command: Command): command is StepCommand {
  return command.type in STEPS;
}

/** Attempts of a step whose command sets no number: what prevents an activity from asking at all may be temporary. */
export const ASK_ATTEMPTS = 3;

/** Fields for the driver only. The session is the workflow's id, unless the run is a branch of an evaluation. */
type DriverFields = "type" | "session" | "maxAttempts";

/** The input of a step's activity. */
export type StepInput<Type extends StepType> = Omit<StepForms[Type]["command"], DriverFields> & {
  readonly session?: string;
};

/** The steps' activities by activity type. */
export type StepActivities = {
  readonly [Type in StepType as Steps[Type]["activity"]]: (input: StepInput<Type>) => Promise<DigestOf<Type>>;
};
