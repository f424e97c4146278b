import { createNothingPendingError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findWaitingInTree, type WaitingEntry } from "./list-waiting-calls.ts";
import { describeRun, findRunsBelow, isOpen } from "./open-runs.ts";

/** Whom an answer goes to. `others` wait besides; unknown where the session stands alone, and is itself to say. */
export type AnswerTarget = {
  readonly session: string;
  readonly toolCallId: string | undefined;
  readonly others?: number;
};

/** The session itself when no agent works below it; else the one whose call it is. */
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
    const which = toolCallId === undefined ? "No call" : `No call ${toolCallId}`;
    const those = waiting.length === 0 ? "" : `; these do: ${listWaitingCalls(waiting)}`;
    throw createNothingPendingError(
      session,
      `${which} of it or of an agent below it waits for a person${those}`,
    );
  }
  if (others.length === 0) return first;
  // An id names a call of the session itself before it names one below.
  if (withinSession !== undefined) return withinSession;
  const advice =
    toolCallId === undefined ? "say which with its id" : "answer at the session whose call you mean";
  throw new HoldfastError(
    "input-invalid",
    `Session ${session} did not take the answer: ${matching.length} calls wait in its tree; ${advice}: ${listWaitingCalls(matching)}.`,
    { session },
  );
}

function listWaitingCalls(waiting: readonly WaitingEntry[]): string {
  return waiting
    .map(({ toolCallId, tool, summary, session }) => `${toolCallId} (${tool} ${summary}, of ${session})`)
    .join(", ");
}
