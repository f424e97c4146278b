import { appendAtPosition } from "./append-message.ts";
import { closeLoop } from "./close-loop.ts";
import {
  completeDispatch,
  countLostWorkers,
  dispatch,
  formatWorkerLoss,
  MAX_LOST_IN_A_ROW,
  redispatch,
} from "./dispatch.ts";
import { type PhaseOf, requirePinned } from "./phase.ts";
import { peekQueue } from "./queues.ts";
import { rejectInput } from "./reject.ts";
import type { FilterDigest, InputVerdict } from "./state/digest.ts";
import type { InboundMessage } from "./state/inbound-message.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import type { TurnSource } from "./state/turn-ending.ts";

// Input filters check waiting messages before a turn takes them (PHI-08). The messages stay in their queue, with the
// verdicts of the filters, until the turn begins, so events that arrive in between still find them there.

/** The number of messages that one step checks; the others get a step of their own. */
const MAX_AT_ONCE = 16;

/** Lists the messages with which a turn would begin and that no filter has checked yet. */
export function listUnfiltered(state: State, source: TurnSource): readonly InboundMessage[] {
  if (requirePinned(state).hasFilters !== true) return [];
  const queue = getQueueName(source);
  return queue === undefined ? [] : peekQueue(state, queue).filter(({ filtered }) => filtered === undefined);
}

function getQueueName(source: TurnSource): "steering" | "followUps" | undefined {
  if (source === "follow-up") return "followUps";
  return source === "calls" || source === "steering" ? "steering" : undefined;
}

export function startFiltering(state: State, source: TurnSource, messages: readonly InboundMessage[]): State {
  const given = dispatch(state);
  const ids = messages.slice(0, MAX_AT_ONCE).map(({ id }) => id);
  return { ...given.state, phase: { type: "filtering", dispatch: given.dispatch, source, ids } };
}

/** Returns the messages that the filters check, without those that were cleared in the meantime. */
export function getMessagesToFilter({ queues }: State, ids: readonly string[]): readonly InboundMessage[] {
  return [...queues.steering, ...queues.followUps].filter(({ id }) => ids.includes(id));
}

/**
 * Records the verdicts of the filters on the messages. A rejected message leaves its queue for the record and ends the
 * loop; the others keep waiting.
 */
export function applyVerdicts(
  state: State,
  phase: PhaseOf<"filtering">,
  { branch, verdicts }: FilterDigest,
): { readonly type: "passed" | "closing"; readonly state: State } {
  const settled = completeDispatch(state, phase.dispatch, branch);
  const noted = {
    ...settled,
    queues: {
      ...settled.queues,
      steering: settled.queues.steering.map((message) => markFiltered(message, verdicts)),
      followUps: settled.queues.followUps.map((message) => markFiltered(message, verdicts)),
    },
  };
  for (const verdict of verdicts) {
    if (verdict.type !== "reject") continue;
    const refused = rejectMessage(noted, verdict.id, verdict.reason);
    if (refused !== undefined) return { type: "closing", state: refused };
  }
  return { type: "passed", state: noted };
}

function markFiltered(message: InboundMessage, verdicts: readonly InputVerdict[]): InboundMessage {
  const verdict = verdicts.find(({ id }) => id === message.id);
  if (verdict === undefined || verdict.type === "reject") return message;
  return { ...message, filtered: verdict.type === "warn" ? { warning: verdict.text } : {} };
}

/** Rejects a message; nothing when the message was cleared while the filters ran. */
function rejectMessage(state: State, id: string, reason: string): State | undefined {
  const { steering, followUps } = state.queues;
  const message = [...steering, ...followUps].find((one) => one.id === id);
  if (message === undefined) return undefined;
  const origin = steering.includes(message) ? "steering" : "follow-up";
  const others = (queue: readonly InboundMessage[]) => queue.filter((one) => one !== message);
  const position = state.length;
  const kept = appendAtPosition(state, position, origin, { type: "rejected", message, reason });
  const queues = { ...state.queues, steering: others(steering), followUps: others(followUps) };
  return rejectInput({ ...kept, queues, length: position + 1 }, reason, position);
}

/** Dispatches the step again after a lost worker, up to three times. The messages stay queued, however the loop ends. */
export function handleFilterFailure(state: State, phase: PhaseOf<"filtering">, failure: StepFailure): State {
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (failure.type === "cancelled") return closeLoop(state, { type: "stopped", reason: "cancelled" });
  if (failure.type === "failed") return closeLoop(state, { type: "failed", ...failure.failure });
  if (countLostWorkers(phase.dispatch.lostWorkers, failure) >= MAX_LOST_IN_A_ROW) {
    const message = `${formatWorkerLoss(failure, "while the input filters ran")}; they are not retried.`;
    return closeLoop(state, { type: "failed", fault: "worker-lost", message });
  }
  return { ...state, phase: { ...phase, dispatch: redispatch(phase.dispatch, failure) } };
}
