import type { AgentMessage } from "../../schema/message.ts";
import type { EntryOrigin, EventBody } from "../../schema/record.ts";
import type { Step } from "./step.ts";

// What is written at once, and where it belongs.

export type NewEntry = {
  readonly position: number;
  readonly origin: EntryOrigin;
  readonly message: AgentMessage;
  readonly messageId?: string | undefined;
  /** It belongs to the branch that the write's fork leaves. */
  readonly left?: true | undefined;
};

export type NewEvent = { readonly sequence: number; readonly atMs: number; readonly body: EventBody };

/** Where a write belongs. Entries get the key `{run}@{position}`. */
export type WriteTarget = {
  readonly loopId: string;
  readonly branch: string;
  /** The first position that this write, or a sibling that runs beside it, may write: where a fork would begin. */
  readonly base: number;
  /**
   * The write goes to a branch that leaves `branch` at the position `at`, and begins it where that is needed: the same
   * one for all writes of a run that name the same place and the same answer `by` which has asked for it.
   */
  readonly fork?: { readonly at: number; readonly by: number } | undefined;
};

/** What has waited in the machine for the next activity. */
export type Outbox = { readonly entries: readonly NewEntry[]; readonly events: readonly NewEvent[] };

export type StoreWrite = WriteTarget & {
  readonly step: Step;
  readonly atMs: number;
  readonly outbox: Outbox;
  readonly entries: readonly NewEntry[];
  /** Small JSON, given back whenever the step is asked for again. */
  readonly result: unknown;
};

/** The definition that a session goes on with. */
export type SessionDefinition = {
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
};

export type StoreResult = {
  readonly branch: string;
  /** What is stored: the argument's result, or the one of an earlier execution of the same step. */
  readonly result: unknown;
};
