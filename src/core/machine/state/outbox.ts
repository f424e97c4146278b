import type { EventBody } from "../../../schema/loop-event.ts";
import type { EntryOrigin } from "../../../schema/record.ts";
import type { InboundMessage } from "./inbound-message.ts";

/** What waits to be written. The next activity takes it as input and writes it first. */
export type Outbox = { readonly entries: readonly OutboxEntry[]; readonly events: readonly OutboxEvent[] };

/** A message that no activity has made: a user message, or a short text of the machine itself. */
export type OutboxEntry = {
  readonly position: number;
  readonly origin: EntryOrigin;
  readonly atMs: number;
  readonly turn: number;
  readonly body: OutboxBody;
  /** The entry is on the branch that a fork leaves. */
  readonly left?: true;
};

/** A branch that is to begin. Every step of the same run that begins it creates the same branch. */
export type NewBranch = {
  /** Its first position. */
  readonly at: number;
  /** The position of the answer that has requested it. */
  readonly by: number;
};

export type OutboxBody =
  | { readonly type: "user"; readonly message: InboundMessage }
  /** A user message that a filter has rejected: stored where no model sees it. */
  | { readonly type: "rejected"; readonly message: InboundMessage; readonly reason: string }
  | { readonly type: "notice"; readonly text: string }
  /** States why a call was not run, unless it is `accepted`. */
  | {
      readonly type: "result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly accepted?: true;
    }
  /** The result of a sub-agent: its own last text, followed by ours. */
  | {
      readonly type: "report";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly isError: boolean;
      readonly text: string;
      /** The position of its text; absent when it has none. */
      readonly from?: { readonly session: string; readonly branch: string; readonly position: number };
      readonly messages: number;
      readonly childLoopId?: string;
    }
  | { readonly type: "no-answer"; readonly stopReason: "error" | "aborted"; readonly errorMessage: string };

export type OutboxEvent = { readonly sequence: number; readonly atMs: number; readonly body: EventBody };
