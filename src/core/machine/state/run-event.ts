import type { QueueMode } from "../../../schema/definition.ts";
import type { Limits } from "../../../schema/limits.ts";
import type { Failure, ToolDigest } from "./digest.ts";
import type { InboundMessage } from "./inbound-message.ts";
import type { StepForms, StepType } from "./step-forms.ts";
import type { TaskReport } from "./task.ts";

/** The wait that a step requests when it was not done. */
export type VendorDelay = {
  readonly forMs: number;
  /** How often the step has called the vendor. */
  readonly attempts: number;
};

/** Why a step did not complete. */
export type StepFailure =
  /**
   * The worker of the step was lost. `attempts`: how often the step was begun, over all generations; 0 if unknown.
   * `isReleased`: it did not die, it was asked to stop and released the step. `isTimeout`: it did not report in time, and may live.
   */
  | {
      readonly type: "lost";
      readonly attempts: number;
      readonly isReleased?: true;
      readonly isTimeout?: true;
    }
  /** A local step that did not end in time, or ran in the wrong place. */
  | { readonly type: "not-local" }
  /** It was cancelled. */
  | { readonly type: "cancelled" }
  /** `wait`: the step should be retried, after a delay that is too long for Temporal's retry. */
  | { readonly type: "failed"; readonly failure: Failure; readonly wait?: VendorDelay };

/** The result of a step. */
type StepEvent = {
  [Type in StepType]:
    | { readonly type: StepForms[Type]["done"]; readonly digest: StepForms[Type]["digest"] }
    | { readonly type: StepForms[Type]["failed"]; readonly failure: StepFailure };
}[StepType];

/** The user's answer to a call that waits. */
export type ApprovalAnswer =
  | {
      readonly type: "approve";
      /** Replaces the model's arguments; the tool validates them in the same way. */
      readonly arguments?: Readonly<Record<string, unknown>>;
      /** Calls of the same kind need no approval from then on. */
      readonly always?: boolean;
    }
  | { readonly type: "deny"; readonly reason?: string }
  /** Answers a question of the call's tool. `values`: the hash of the text that holds them. */
  | { readonly type: "answer"; readonly answer: QuestionAnswer; readonly values?: string };

type QuestionAnswer = "accept" | "decline" | "cancel";

/** As a worker reports it. Names as the model knows them or will; after a few, the last entry says how many more. */
export type ToolListChange = {
  readonly loopId: string;
  /** The name of the server in the definition. */
  readonly server: string;
  /** The hash of the difference to what the loop was opened with: the same difference has the same hash on every worker. */
  readonly hash: string;
  /** The names of tools that the loop does not have. */
  readonly added: readonly string[];
  /** The names of tools that the server no longer has. */
  readonly removed: readonly string[];
  /** The names of tools that the server describes differently. */
  readonly changed: readonly string[];
};

/** An event, as the driver reports it. `atMs` is the workflow's clock. */
export type RunEvent = { readonly atMs: number } & (
  | StepEvent
  /** The user requests a smaller context before the next answer. */
  | { readonly type: "compaction-requested"; readonly focus?: string }
  | { readonly type: "tool-finished"; readonly call: number; readonly digest: ToolDigest }
  | { readonly type: "tool-failed"; readonly call: number; readonly failure: StepFailure }
  /** The run of a sub-agent was requested under this id. */
  | { readonly type: "child-started"; readonly call: number; readonly session: string }
  | { readonly type: "child-finished"; readonly call: number; readonly report: TaskReport }
  /** It ended without a report of its own; `report` is what its record shows. */
  | {
      readonly type: "child-lost";
      readonly call: number;
      readonly reason: string;
      readonly report?: TaskReport;
    }
  /** The user requests another definition for the run. */
  | { readonly type: "definition-update-requested"; readonly hash: string }
  | { readonly type: "prompted"; readonly message: InboundMessage }
  | { readonly type: "steered"; readonly message: InboundMessage }
  | { readonly type: "followed-up"; readonly message: InboundMessage }
  | { readonly type: "queue-mode-set"; readonly queue: "steering" | "follow-up"; readonly mode: QueueMode }
  | { readonly type: "queues-cleared"; readonly queue: "steering" | "follow-up" | "all" }
  /** The user has answered a call that waits. */
  | {
      readonly type: "approval-answered";
      readonly toolCallId: string;
      readonly answer: ApprovalAnswer;
      readonly by?: string;
    }
  /** An operator raises the limits of the run. */
  | { readonly type: "limits-raised"; readonly limits: Partial<Limits> }
  /** A server offers other tools than when the loop was opened. */
  | ({ readonly type: "tool-list-changed" } & ToolListChange)
  | { readonly type: "stop-requested"; readonly reason: string }
  /** The user has given the session another title, which the transcript contains already. */
  | { readonly type: "title-changed"; readonly title: string }
  /** The history is growing long: continue as new when a turn ends. */
  | { readonly type: "rotation-requested" }
  /** The time of a `wait` has come. */
  | { readonly type: "timer-fired" }
  /** The first event of a run, and of one that continued as new: what arrived together with it is accepted. */
  | { readonly type: "started" }
);
