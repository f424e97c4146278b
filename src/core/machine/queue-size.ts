import { countUtf8Bytes } from "../view/estimate.ts";
import { MAX_WAITING_BYTES, MAX_WAITING_MESSAGES } from "./queue-limits.ts";
import type { InboundMessage, Queues, RejectedMessages } from "./state/inbound-message.ts";

// User messages wait in the state of a run, and the state must fit into one payload of the server when the run continues
// as new. The two queues together therefore have a bound. A message beyond it is rejected: it is never dropped silently,
// and never displaces a message that was accepted.

/** The messages that wait in the queues of a run. */
export type QueueSize = { readonly messages: number; readonly bytes: number };

/** The number of rejected messages that a run lists; it only counts the others. */
export const MAX_LISTED_REJECTIONS = 20;

/** The text of a message, or the hash under which it is stored, and its metadata. */
type MessageText = Pick<InboundMessage, "text" | "ref" | "metadata">;

export function measureQueues({ steering, followUps }: Pick<Queues, "steering" | "followUps">): QueueSize {
  return measureMessages([...steering, ...followUps]);
}

export function measureMessages(messages: readonly MessageText[]): QueueSize {
  return {
    messages: messages.length,
    bytes: messages.reduce((sum, message) => sum + countInlineBytes(message), 0),
  };
}

export function hasRoomFor(waiting: QueueSize, message: MessageText): boolean {
  return (
    waiting.messages < MAX_WAITING_MESSAGES && waiting.bytes + countInlineBytes(message) <= MAX_WAITING_BYTES
  );
}

/** Formats what the sender of a rejected message reads. */
export function formatQueueFull({ messages, bytes }: QueueSize): string {
  return (
    `The queue is full: ${messages} messages with ${bytes} bytes wait already, ` +
    `and at most ${MAX_WAITING_MESSAGES} messages with ${MAX_WAITING_BYTES} bytes may wait`
  );
}

export function addRejected(
  before: RejectedMessages | undefined,
  { id, atMs }: Pick<InboundMessage, "id" | "atMs">,
): RejectedMessages {
  const newest = [...(before?.newest ?? []), { id, atMs }];
  return { messages: (before?.messages ?? 0) + 1, newest: newest.slice(-MAX_LISTED_REJECTIONS) };
}

function countInlineBytes({ text, ref, metadata }: MessageText): number {
  const metadataBytes = metadata === undefined ? 0 : countUtf8Bytes(JSON.stringify(metadata));
  return countUtf8Bytes(text ?? "") + (ref?.length ?? 0) + metadataBytes;
}
