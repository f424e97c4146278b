import type { QueueMode } from "../../../schema/definition.ts";
import type { MessageMetadata } from "../../../schema/message.ts";
import type { EntryOrigin } from "../../../schema/record.ts";
import type { TaskRef } from "./task.ts";

// User messages while they are on their way into the conversation.

/** A user message: its text, or the hash under which the text is stored when it is too long to travel. */
export type InboundMessage = {
  /** Made by the sender. A message with a known id is ignored. */
  readonly id: string;
  readonly text?: string;
  readonly ref?: string;
  /** The reference is to stored parts: the message has images or files. */
  readonly parts?: true;
  /** The estimated tokens of the stored text, when the sender knows them. */
  readonly tokens?: number;
  /** At most `MAX_METADATA_BYTES` as JSON. */
  readonly metadata?: MessageMetadata;
  /** The text is a task, and is in the record of the calling agent. */
  readonly task?: TaskRef;
  readonly atMs: number;
  /** The input filters have accepted it, possibly with a warning. Absent: they have not run. */
  readonly filtered?: { readonly warning?: string };
};

export type Queues = {
  readonly steering: readonly InboundMessage[];
  readonly followUps: readonly InboundMessage[];
  /** Set by an operator; the definition's own by default. */
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
};

export type Prompt = InboundMessage & { readonly origin: EntryOrigin };

/** The messages that a run has rejected: how many, and the newest of them. */
export type RejectedMessages = {
  /** How many there were. */
  readonly messages: number;
  /** A few of them, oldest first. */
  readonly newest: readonly {
    /** The id of the message. */
    readonly id: string;
    /** When it came, in Unix milliseconds. */
    readonly atMs: number;
  }[];
};
