import type { EventBody } from "../../schema/loop-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { EntryOrigin } from "../../schema/record.ts";
import type { Step } from "./step.ts";

// The data of one write, and its target.

export type NewEntry = {
  readonly position: number;
  readonly origin: EntryOrigin;
  readonly message: AgentMessage;
  readonly messageId?: string | undefined;
  /** The hash of the stored parts of a user's message, whose content has references to their data. */
  readonly parts?: string | undefined;
  /** The entry belongs to the branch that the write's fork leaves. */
  readonly isOnParentBranch?: true | undefined;
};

export type NewEvent = { readonly sequence: number; readonly atMs: number; readonly body: EventBody };

/** The target of a write. Entries get the key `{run}@{position}`. */
export type WriteTarget = {
  readonly loopId: string;
  readonly branch: string;
  /** The first position that this write or a concurrent sibling may write; a fork would begin there. */
  readonly base: number;
  /**
   * Writes to a branch that forks from `branch` at the position `at`, and creates it if necessary: the same branch for all
   * writes of a run with the same position and the same answer `by`, which requested the fork.
   */
  readonly fork?: { readonly at: number; readonly by: number } | undefined;
};

/** The entries and events that the machine queued for the next activity. */
export type Outbox = { readonly entries: readonly NewEntry[]; readonly events: readonly NewEvent[] };

export type StoreWrite = WriteTarget & {
  readonly step: Step;
  readonly atMs: number;
  readonly outbox: Outbox;
  readonly entries: readonly NewEntry[];
  /** Small JSON, returned by every repeated request of the step. */
  readonly result: unknown;
};

/** The definition with which a session continues. */
export type SessionDefinition = {
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
};

export type StoreResult = {
  readonly branch: string;
  /** The stored result: that of the argument, or that of an earlier execution of the same step. */
  readonly result: unknown;
};
