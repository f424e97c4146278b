import { emit } from "./outbox.ts";
import { addRejected, hasRoomFor, measureQueues } from "./queue-size.ts";
import type { InboundMessage, Prompt, Queues } from "./state/inbound-message.ts";
import type { State } from "./state/state.ts";

/** The number of ids that a run remembers, so that a message sent twice is taken once. About 8 KiB of state. */
const REMEMBERED_IDS = 200;

export const EMPTY_QUEUES: Queues = { steering: [], followUps: [] };

/** The maximum number of rejections that wait to be recorded; the next one that is recorded has the total. */
const MAX_PENDING_REJECTIONS = 20;

/** Adds a message to a queue, unless its id is known. A message for which there is no room is rejected. */
export function enqueue(state: State, queue: "steering" | "followUps", message: InboundMessage): State {
  if (state.recentIds.includes(message.id)) return state;
  if (!hasRoom(state, message)) return rejectMessage(state, queue, message);
  return {
    ...rememberId(state, message.id),
    queues: { ...state.queues, [queue]: [...state.queues[queue], message] },
  };
}

/** Reports whether the queues have room for this message. A message that was taken before needs none. */
export function hasRoom(
  { queues, recentIds }: State,
  message: Pick<InboundMessage, "id" | "text" | "ref">,
): boolean {
  return recentIds.includes(message.id) || hasRoomFor(measureQueues(queues), message);
}

/** Rejects a message without remembering its id: sent again when there is room, the message is taken. */
function rejectMessage(state: State, queue: "steering" | "followUps", message: InboundMessage): State {
  const refused = addRejected(state.rejectedMessages, message);
  const counted = { ...state, rejectedMessages: refused };
  const waiting = state.outbox.events.filter(({ body }) => body.type === "MessageRejected").length;
  // After AgentEnd, nothing more is recorded of a loop.
  if (waiting >= MAX_PENDING_REJECTIONS || state.phase.type === "closing") return counted;
  return emit(counted, {
    type: "MessageRejected",
    messageId: message.id,
    queue: queue === "steering" ? "steering" : "follow-up",
    waiting: measureQueues(state.queues),
    rejected: refused.messages,
  });
}

export function rememberId(state: State, id: string): State {
  return { ...state, recentIds: [...state.recentIds, id].slice(-REMEMBERED_IDS) };
}

/** Returns what one poll of a queue takes: the first message, or all of them (STEER-02). */
export function peekQueue(state: State, queue: "steering" | "followUps"): readonly InboundMessage[] {
  const waiting = state.queues[queue];
  return getQueueMode(state, queue) === "all" ? waiting : waiting.slice(0, 1);
}

export function pollQueue(
  state: State,
  queue: "steering" | "followUps",
): { state: State; taken: readonly Prompt[] } {
  const taken = peekQueue(state, queue);
  if (taken.length === 0) return { state, taken: [] };
  const origin = queue === "steering" ? "steering" : "follow-up";
  return {
    state: { ...state, queues: { ...state.queues, [queue]: state.queues[queue].slice(taken.length) } },
    taken: taken.map((message) => ({ ...message, origin })),
  };
}

function getQueueMode(state: State, queue: "steering" | "followUps") {
  const mode =
    queue === "steering"
      ? (state.queues.steeringMode ?? state.pinned?.steeringMode)
      : (state.queues.followUpMode ?? state.pinned?.followUpMode);
  return mode ?? "one-at-a-time";
}

/**
 * Returns messages to the front of the queue that were taken to precede prompts which were then rejected.
 *
 * @param refused - Ids of messages that were rejected themselves: those are in the record.
 */
export function requeuePrompts(
  queues: Queues,
  prompts: readonly Prompt[],
  rejected: readonly (string | undefined)[] = [],
): Queues {
  const taken = prompts.flatMap(({ origin, ...message }) =>
    origin === "prompt" || rejected.includes(message.id) ? [] : [message],
  );
  return { ...queues, steering: [...taken, ...queues.steering] };
}

/** Lists all waiting messages, steering first, each queue in order. */
export function listQueued(queues: Queues): readonly InboundMessage[] {
  return [...queues.steering, ...queues.followUps];
}

export function clearQueues(queues: Queues, which: "steering" | "follow-up" | "all"): Queues {
  return {
    ...queues,
    steering: which === "follow-up" ? queues.steering : [],
    followUps: which === "steering" ? queues.followUps : [],
  };
}
