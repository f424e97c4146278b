import type { PersonMessage, Prompt, Queues, State } from "./state.ts";

/** Ids that a run remembers, so that a message sent twice is taken once. About 8 KiB of state. */
const REMEMBERED_IDS = 200;

export const EMPTY_QUEUES: Queues = { steering: [], followUps: [] };

/** Takes a message of a person into a queue, unless its id is known. */
export function enqueue(state: State, queue: "steering" | "followUps", message: PersonMessage): State {
  if (state.recentIds.includes(message.id)) return state;
  return {
    ...remember(state, message.id),
    queues: { ...state.queues, [queue]: [...state.queues[queue], message] },
  };
}

export function remember(state: State, id: string): State {
  return { ...state, recentIds: [...state.recentIds, id].slice(-REMEMBERED_IDS) };
}

/** What one poll of a queue takes: the first message, or all (STEER-02). */
export function due(state: State, queue: "steering" | "followUps"): readonly PersonMessage[] {
  const waiting = state.queues[queue];
  return modeOf(state, queue) === "all" ? waiting : waiting.slice(0, 1);
}

export function poll(
  state: State,
  queue: "steering" | "followUps",
): { state: State; taken: readonly Prompt[] } {
  const taken = due(state, queue);
  if (taken.length === 0) return { state, taken: [] };
  const origin = queue === "steering" ? "steering" : "follow-up";
  return {
    state: { ...state, queues: { ...state.queues, [queue]: state.queues[queue].slice(taken.length) } },
    taken: taken.map((message) => ({ ...message, origin })),
  };
}

function modeOf(state: State, queue: "steering" | "followUps") {
  const mode =
    queue === "steering"
      ? (state.queues.steeringMode ?? state.pinned?.steeringMode)
      : (state.queues.followUpMode ?? state.pinned?.followUpMode);
  return mode ?? "one-at-a-time";
}

/**
 * What was taken to come before prompts that were refused was not refused with them: it goes back to the front.
 *
 * @param refused - Ids of messages that were refused by themselves: those stand in the record.
 */
export function giveBack(
  queues: Queues,
  prompts: readonly Prompt[],
  refused: readonly (string | undefined)[] = [],
): Queues {
  const taken = prompts.flatMap(({ origin, ...message }) =>
    origin === "prompt" || refused.includes(message.id) ? [] : [message],
  );
  return { ...queues, steering: [...taken, ...queues.steering] };
}

/** Everything that waits, steering first, each queue in order. */
export function allQueued(queues: Queues): readonly PersonMessage[] {
  return [...queues.steering, ...queues.followUps];
}

export function clearQueues(queues: Queues, which: "steering" | "follow-up" | "all"): Queues {
  return {
    ...queues,
    steering: which === "follow-up" ? queues.steering : [],
    followUps: which === "steering" ? queues.followUps : [],
  };
}
