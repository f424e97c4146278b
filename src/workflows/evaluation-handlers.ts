import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import { addRejected, hasRoomFor, measureMessages, type QueueSize } from "../core/machine/queue-size.ts";
import type { InboundMessage, RejectedMessages } from "../core/machine/state/inbound-message.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import {
  type Acknowledgement,
  type ApprovalInput,
  approveUpdate,
  followUpSignal,
  followUpUpdate,
  type MessageInput,
  promptUpdate,
  steerSignal,
  steerUpdate,
} from "./messages.ts";
import { BUSY_TEXT, buildQueueFullFailure } from "./run-handlers.ts";
import { isMessageInput, toInboundMessage } from "./run-input.ts";

/** Messages for the session's next loop. The branches do not read them. */
export class Inbox {
  readonly #kept: InboundMessage[] = [];
  #refused: RejectedMessages | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** @returns The number of messages that wait. */
  keep(message: InboundMessage): number {
    if (this.#kept.some(({ id }) => id === message.id)) return this.size;
    if (hasRoomFor(measureMessages(this.#kept), message)) this.#kept.push(message);
    else this.#refused = addRejected(this.#refused, message);
    this.#onChange();
    return this.size;
  }

  take(): readonly InboundMessage[] {
    return this.#kept.splice(0);
  }

  /** Returns the size of the queue if there is no room for another message. */
  full(words: MessageInput): QueueSize | undefined {
    const message = typeof words === "string" ? { text: words } : words;
    const waiting = measureMessages(this.#kept);
    const isKnown = this.#kept.some(({ id }) => "id" in message && id === message.id);
    return isKnown || hasRoomFor(waiting, message) ? undefined : waiting;
  }

  waiting(): { readonly waitingMessages: QueueSize; readonly rejected?: RejectedMessages } {
    const rejected = omitUndefined({ rejected: this.#refused });
    return { waitingMessages: measureMessages(this.#kept), ...rejected };
  }
}

/** Registers the handlers of the messages that users may send to an evaluation. */
export function registerEvaluationHandlers(inbox: Inbox): void {
  const taken = (input: MessageInput) => {
    const message = toInboundMessage(input, Date.now());
    if (message !== undefined) inbox.keep(message);
  };
  const validator = (input: MessageInput) => {
    checkMessage(input);
    const waiting = inbox.full(input);
    if (waiting !== undefined) throw buildQueueFullFailure(waiting);
  };
  const description = "Stores a message in the session's inbox for its next loop";
  setHandler(steerSignal, taken, { description });
  setHandler(followUpSignal, taken, { description });
  const acknowledged = (input: MessageInput): Acknowledgement => {
    const message = toInboundMessage(input, Date.now()) as InboundMessage;
    return { id: message.id, queued: inbox.keep(message) };
  };
  setHandler(steerUpdate, acknowledged, { validator });
  setHandler(followUpUpdate, acknowledged, { validator });
  setHandler(promptUpdate, acknowledged, {
    validator: rejectPrompt,
    description: "Rejected: the session is being evaluated",
  });
  setHandler(approveUpdate, () => ({ toolCallId: "", tool: "", waiting: 0 }), {
    validator: rejectApproval,
    description: "Rejected: each branch takes approvals under its own workflow id",
  });
}

function rejectPrompt(_: MessageInput): void {
  throw ApplicationFailure.nonRetryable(BUSY_TEXT, "holdfast/busy");
}

function rejectApproval(_: ApprovalInput): void {
  throw ApplicationFailure.nonRetryable(
    "Each branch of an evaluation takes approvals itself: approve under the workflow id of the branch, which status displays",
    "holdfast/no-approval",
  );
}

function checkMessage(input: MessageInput): void {
  if (isMessageInput(input)) return;
  throw ApplicationFailure.nonRetryable(
    "A message must be a text, or an object with `text` or `ref`",
    "holdfast/invalid-message",
  );
}
