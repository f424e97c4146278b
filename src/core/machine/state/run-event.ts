import type { Limits, QueueMode } from "../../../schema/definition.ts";
import type { ApprovalAnswer } from "../approvals.ts";
import type { StepEvent } from "../steps.ts";
import type { TaskReport } from "../task.ts";
import type { ToolListChange } from "../tool-list-change.ts";
import type { VendorDelay } from "../vendor-wait.ts";
import type { Failure, ToolDigest } from "./digest.ts";
import type { InboundMessage } from "./state.ts";

/** How a step did not get to its end. */
export type StepFailure =
  /**
   * The worker that did it is gone. `attempts`: times that the step was begun, over all generations; 0 if unknown.
   * `inOrder`: it did not die, it was asked to end and gave the step back. `late`: it did not report in time, and may live.
   */
  | {
      readonly type: "lost";
      readonly attempts: number;
      readonly inOrder?: true;
      readonly late?: true;
    }
  /** A local step that did not end in time, or found itself in the wrong place. */
  | { readonly type: "elsewhere" }
  /** It ended because it was told to. */
  | { readonly type: "cancelled" }
  /** `wait`: it is worth to be done again, after a while that is too long for a retry of Temporal's. */
  | { readonly type: "failed"; readonly failure: Failure; readonly wait?: VendorDelay };

/** What happened, as the driver tells it. `atMs` is the workflow's clock. */
export type RunEvent = { readonly atMs: number } & (
  | StepEvent
  /** A person wants a smaller context, before the next answer. */
  | { readonly type: "compaction-asked"; readonly focus?: string }
  | { readonly type: "tool-finished"; readonly call: number; readonly digest: ToolDigest }
  | { readonly type: "tool-set-back"; readonly call: number; readonly setback: StepFailure }
  /** The run of a sub-agent was asked for under this id. */
  | { readonly type: "child-started"; readonly call: number; readonly session: string }
  | { readonly type: "child-finished"; readonly call: number; readonly report: TaskReport }
  /** It is gone without a word of its own; `report` is what its record shows. */
  | {
      readonly type: "child-lost";
      readonly call: number;
      readonly how: string;
      readonly report?: TaskReport;
    }
  /** A person wants the run to go on with another definition. */
  | { readonly type: "update-asked"; readonly hash: string }
  | { readonly type: "prompted"; readonly message: InboundMessage }
  | { readonly type: "steered"; readonly message: InboundMessage }
  | { readonly type: "followed-up"; readonly message: InboundMessage }
  | { readonly type: "queue-mode-set"; readonly queue: "steering" | "follow-up"; readonly mode: QueueMode }
  | { readonly type: "queues-cleared"; readonly queue: "steering" | "follow-up" | "all" }
  /** A person has answered a call that waits. */
  | {
      readonly type: "approval-answered";
      readonly toolCallId: string;
      readonly answer: ApprovalAnswer;
      readonly by?: string;
    }
  /** An operator lets the run have more. */
  | { readonly type: "limits-raised"; readonly limits: Partial<Limits> }
  /** A server outside offers something else than when the loop was opened. */
  | ({ readonly type: "offers-changed" } & ToolListChange)
  | { readonly type: "stop-requested"; readonly reason: string }
  /** The history grows long: continue as new when a turn ends. */
  | { readonly type: "rotation-due" }
  /** The time that a `wait` was for has come. */
  | { readonly type: "time-passed" }
  /** The first event of a run, and of one that continued as new: what came together with it is let in. */
  | { readonly type: "begun" }
);
