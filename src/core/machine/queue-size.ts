import { countUtf8Bytes } from "../view/estimate.ts";
import type { InboundMessage, Queues } from "./state/state.ts";

// Messages of people wait in the state of a run, and the state travels: it must fit into one payload of the server when
// the run continues as new. So the two queues together have a bound. A message beyond it is refused, never dropped in
// silence and never taken at the cost of one that was accepted.

/** Messages that may wait in a run, steering and follow-ups together; also those in a session's inbox. */
export const MAX_WAITING_MESSAGES = 200;

/** Bytes of UTF-8 of the words that wait in a run. A text that is stored counts as its hash. */
export const MAX_WAITING_BYTES = 256 * 1024;

/** Longest id of a message, in characters: 200 of them are remembered. */
export const MAX_MESSAGE_ID_CHARS = 256;

/** What waits in the queues of a run. */
export type QueueSize = { readonly messages: number; readonly bytes: number };

/** Messages that a run has refused: how many, and the newest of them. */
export type RejectedMessages = {
  readonly messages: number;
  /** At most `MAX_REFUSED_SHOWN`, oldest first. */
  readonly newest: readonly { readonly id: string; readonly atMs: number }[];
};

/** Refused messages that a run names; the others it only counts. */
export const MAX_LISTED_REJECTIONS = 20;

/** The words of a message, or the hash under which they are stored. */
type MessageText = Pick<InboundMessage, "text" | "ref">;

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

/** What the sender of a refused message is told. */
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

function countInlineBytes({ text, ref }: MessageText): number {
  return countUtf8Bytes(text ?? "") + (ref?.length ?? 0);
}
