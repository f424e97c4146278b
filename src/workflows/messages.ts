import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";
import type { OfferChange } from "../core/offers.ts";
import type { Status } from "../core/status.ts";
import type { Limits, QueueMode } from "../schema/definition.ts";

// What a run can be told and asked: wire names, pinned by tests.

/** Words for a run: a plain text, as an operator types it into the Temporal UI, or a message with the sender's id. */
export type Words =
  | string
  | {
      /** Made by the sender. A message with an id that the run has seen is taken once. */
      readonly id?: string;
      readonly text?: string;
      /** SHA-256 of a text that was stored in the transcript first, because it is over 32 KiB. */
      readonly ref?: string;
    };

export const steerSignal = defineSignal<[Words]>("steer");
export const followUpSignal = defineSignal<[Words]>("followUp");
export const queueModeSignal =
  defineSignal<[{ queue: "steering" | "follow-up"; mode: QueueMode }]>("queueMode");
export const clearQueuesSignal = defineSignal<["steering" | "follow-up" | "all"]>("clearQueues");
/** Makes the context smaller before the next answer; the words say what matters most. */
export const compactSignal = defineSignal<[{ readonly focus?: string }?]>("compact");
export const stopSignal = defineSignal<[string?]>("stop");

/** From a worker: a server outside offers something else than when the loop was opened. */
export const offersChangedSignal = defineSignal<[OfferChange]>("offersChanged");

/** To an autonomous agent that sleeps: it goes on now, with these words as its next prompt. */
export const wakeSignal = defineSignal<[Words?]>("wake");

/** What became of a message that was sent with an acknowledgement. */
export type Accepted = { readonly id: string; readonly queued: number };

/** The next prompt of an interactive run; refused while a loop is running. */
export const promptUpdate = defineUpdate<Accepted, [Words]>("prompt");
/** `steer` and `followUp` with an answer, for who wants to know. */
export const steerUpdate = defineUpdate<Accepted, [Words]>("steerAcknowledged");
export const followUpUpdate = defineUpdate<Accepted, [Words]>("followUpAcknowledged");

/** A person's word on a call that waits for one. */
export type ApprovalWords = {
  /** Of the waiting call, as status shows it; may be left out while only one waits. */
  readonly toolCallId?: string;
  readonly answer: "approve" | "refuse" | "accept" | "decline" | "cancel";
  /** With "approve": run it with these instead. At most 32 KiB as JSON. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** With "approve": the same kind of call is not asked for again in this session. */
  readonly always?: boolean;
  /** With "refuse": what the model is told. */
  readonly reason?: string;
  /** Hash of the question that is answered, as status shows it: refused when the call asks another one by now. */
  readonly question?: string;
  /** With "accept": hash of the stored values. */
  readonly values?: string;
  /** Who answers; kept in the record. */
  readonly by?: string;
};
export type Approved = { readonly toolCallId: string; readonly tool: string; readonly waiting: number };

/** Refused when nothing waits, or not that call. */
export const approveUpdate = defineUpdate<Approved, [ApprovalWords]>("approve");

/** Limits for the loop that runs, in place of the definition's; refused while none is running. */
export const raiseLimitsUpdate = defineUpdate<Limits, [Partial<Limits>]>("raiseLimits");

/** Another definition for a run. */
export type DefinitionWords = {
  /** Of a definition that the transcript holds. */
  readonly definitionHash: string;
  /** What the new definition offers: refused while a call of another tool waits for a person. */
  readonly tools?: readonly string[];
};
/** `now`: nothing was running. A loop that runs is moved before its next turn, and its record says what came of it. */
export type DefinitionTaken = { readonly takesEffect: "now" | "next-turn" };

/** Moves a run to another definition; refused with the reasons. */
export const updateDefinitionUpdate = defineUpdate<DefinitionTaken, [DefinitionWords]>("updateDefinition");

export const statusQuery = defineQuery<Status>("status");

/** The name of the workflow type that drives loops. */
export const AGENT_WORKFLOW = "agent";

/** The name of the workflow type by which a schedule wakes a job. */
export const WAKE_WORKFLOW = "wakeJob";
/** The name of the workflow type that compares agents in a session. */
export const EVALUATION_WORKFLOW = "evaluation";

/** Whether a workflow runs a part of an evaluation, by its id: it has no session of its own. */
export function isPartWorkflow(workflowId: string): boolean {
  return /\.(?:branch-\d+|judge)-[0-9a-f]{8}$/.test(workflowId);
}
