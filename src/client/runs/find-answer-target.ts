import { createNothingPendingError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findWaitingInTree, type WaitingEntry } from "./list-waiting-calls.ts";
import { describeRun, findRunsBelow, isOpen } from "./open-runs.ts";

/** The recipient of an answer. `others` counts the further pending calls; absent if no agent works below the session. */
export type AnswerTarget = {
  readonly session: string;
  readonly toolCallId: string | undefined;
  readonly others?: number;
};

/** Returns the session itself if no agent works below it; otherwise the session that made the call. */
export async function findAnswerTarget(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
): Promise<AnswerTarget> {
  const root = await describeRun(link, session);
  const runs = root === undefined || !isOpen(root) ? [] : await findRunsBelow(link, root);
  if (root === undefined || runs.length === 0) return { session, toolCallId };
  const waiting = await findWaitingInTree(link, root, runs);
  const found = chooseWaitingCall(session, waiting, toolCallId);
  return { session: found.session, toolCallId: found.toolCallId, others: waiting.length - 1 };
}

function chooseWaitingCall(
  session: string,
  waiting: readonly WaitingEntry[],
  toolCallId: string | undefined,
): WaitingEntry {
  const matching =
    toolCallId === undefined ? waiting : waiting.filter((call) => call.toolCallId === toolCallId);
  const withinSession =
    toolCallId === undefined ? undefined : matching.find((call) => call.session === session);
  const [first, ...others] = matching;
  if (first === undefined) {
    const which = toolCallId === undefined ? "no call" : `no call ${toolCallId}`;
    const those = waiting.length === 0 ? "" : `; these are pending: ${listWaitingCalls(waiting)}`;
    throw createNothingPendingError(
      session,
      `${which} of the session or of an agent below it is pending${those}`,
    );
  }
  if (others.length === 0) return first;
  // An id refers to a call of the session itself before it refers to one below.
  if (withinSession !== undefined) return withinSession;
  const advice =
    toolCallId === undefined ? "specify the id of one call" : "answer at the session that made the call";
  throw new HoldfastError(
    "input-invalid",
    `Session ${session} rejected the answer: ${matching.length} calls are pending in its tree; ` +
      `${advice}: ${listWaitingCalls(matching)}.`,
    { session },
  );
}

function listWaitingCalls(waiting: readonly WaitingEntry[]): string {
  return waiting
    .map(({ toolCallId, tool, summary, session }) => `${toolCallId} (${tool} ${summary}, of ${session})`)
    .join(", ");
}
