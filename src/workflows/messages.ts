import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";
import type { ToolListChange } from "../core/machine/state/run-event.ts";
import type { RunStatus } from "../core/machine/status.ts";
import type { SuiteProgress } from "../core/suite/suite-dashboard.ts";
import type { QueueMode } from "../schema/definition.ts";
import type { Limits } from "../schema/limits.ts";
import type { MessageMetadata } from "../schema/message.ts";
import type { SuiteControl } from "../schema/suite.ts";

// The signals, updates and queries of a run. Tests pin the wire names.

/**
 * A message for a run: a plain text, as an operator types it into the Temporal UI, or an object with the sender's id.
 */
export type MessageInput =
  | string
  | {
      /** The id that the sender chose. The run accepts a message with a known id only once. */
      readonly id?: string;
      /** The text; absent with `ref`. */
      readonly text?: string;
      /** SHA-256 of a text that was stored in the transcript first, because it is over 32 KiB. */
      readonly ref?: string;
      /** `ref` is the hash of stored parts: the message has images or files. */
      readonly parts?: true;
      /** The estimated tokens of the stored text; without them it counts as 32 KiB. */
      readonly tokens?: number;
      /** Stored with the message and never sent to a model. A run ignores more than 2 KiB as JSON. */
      readonly metadata?: MessageMetadata;
    };

export const steerSignal = defineSignal<[MessageInput]>("steer");
export const followUpSignal = defineSignal<[MessageInput]>("followUp");
export const queueModeSignal =
  defineSignal<[{ queue: "steering" | "follow-up"; mode: QueueMode }]>("queueMode");
export const clearQueuesSignal = defineSignal<["steering" | "follow-up" | "all"]>("clearQueues");
/** Compacts the context before the next answer; `focus` says what matters most. */
export const compactSignal = defineSignal<[{ readonly focus?: string }?]>("compact");
export const stopSignal = defineSignal<[string?]>("stop");

/** Sent by a worker: a server offers other tools than when the loop was opened. */
export const toolListChangedSignal = defineSignal<[ToolListChange]>("toolListChanged");

/** Sent by a client that has stored another title for the session. */
export const titleSignal = defineSignal<[string]>("title");

/** Wakes an autonomous agent that sleeps; the message becomes its next prompt. */
export const wakeSignal = defineSignal<[MessageInput?]>("wake");

/** The acknowledgement of a message. */
export type Acknowledgement = { readonly id: string; readonly queued: number };

/** The next prompt of an interactive run; rejected while a loop is running. */
export const promptUpdate = defineUpdate<Acknowledgement, [MessageInput]>("prompt");
/** `steer` and `followUp` with an acknowledgement. */
export const steerUpdate = defineUpdate<Acknowledgement, [MessageInput]>("steerAcknowledged");
export const followUpUpdate = defineUpdate<Acknowledgement, [MessageInput]>("followUpAcknowledged");

/** A user's answer to a call that waits for one. */
export type ApprovalInput = {
  /** The id of the waiting call, as status displays it. Optional while only one call waits. */
  readonly toolCallId?: string;
  readonly answer: "approve" | "deny" | "accept" | "decline" | "cancel";
  /** With "approve": run the call with these arguments instead. At most 32 KiB as JSON. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** With "approve": calls of the same kind need no further approval in this session. */
  readonly always?: boolean;
  /** With "deny": the reason that the model reads. */
  readonly reason?: string;
  /**
   * The hash of the question that is answered, as status displays it. Rejected when the call asks another question
   * meanwhile.
   */
  readonly question?: string;
  /** With "accept": the hash of the stored values. */
  readonly values?: string;
  /** Who answers; stored in the record. */
  readonly by?: string;
};
/** What an approval or a denial has settled. */
export type ApprovalResult = {
  readonly toolCallId: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The number of calls of the run that still wait. */
  readonly waiting: number;
};

/** Rejected when no call waits, or when the named call does not wait. */
export const approveUpdate = defineUpdate<ApprovalResult, [ApprovalInput]>("approve");

/** Raises the limits of the running loop, which replace the definition's; rejected while no loop is running. */
export const raiseLimitsUpdate = defineUpdate<Limits, [Partial<Limits>]>("raiseLimits");

/** A request to give a run another definition. */
export type DefinitionUpdateRequest = {
  /** The hash of a definition in the transcript. */
  readonly definitionHash: string;
  /** The tools of the new definition. Rejected while a call of any other tool waits for the user. */
  readonly tools?: readonly string[];
};
/**
 * `now`: no loop was running. Otherwise the running loop changes its definition before its next turn, and its record
 * contains the result.
 */
export type DefinitionUpdateResult = { readonly takesEffect: "now" | "next-turn" };

/** Gives a run another definition; a rejection lists the reasons. */
export const updateDefinitionUpdate = defineUpdate<DefinitionUpdateResult, [DefinitionUpdateRequest]>(
  "updateDefinition",
);

export const statusQuery = defineQuery<RunStatus>("status");

/** Changes how a suite works; the store has the same values. */
export const controlSuiteSignal = defineSignal<[Partial<SuiteControl>]>("controlSuite");
export const suiteStatusQuery = defineQuery<SuiteProgress>("status");

/** The name of the workflow type that drives loops. */
export const AGENT_WORKFLOW = "agent";

/** The names of the workflow types that run a suite, and a part of its cells. */
export const SUITE_WORKFLOW = "suite";
export const SHARD_WORKFLOW = "suiteShard";

/** The names of all workflow types. A worker of an application cannot have others of these names. */
export const WORKFLOW_NAMES: readonly string[] = [
  AGENT_WORKFLOW,
  "autonomous",
  "evaluation",
  "fanOut",
  "pipeline",
  "retention",
  SUITE_WORKFLOW,
  SHARD_WORKFLOW,
  "supervisor",
  "wakeJob",
];

/** The name of the workflow type by which a schedule wakes a job. */
export const WAKE_WORKFLOW = "wakeJob";
/** The name of the workflow type that compares agents in a session. */
export const EVALUATION_WORKFLOW = "evaluation";

/** Returns whether a workflow id belongs to a part of an evaluation, which has no session of its own. */
export function isPartWorkflow(workflowId: string): boolean {
  return /\.(?:branch-\d+|judge)-[0-9a-f]{8}$/.test(workflowId);
}
