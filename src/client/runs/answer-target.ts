import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { nothingWaits } from "../failures.ts";
import { describeRun, isOpen, runsBelow } from "./tree.ts";
import { type Waiting, waitingInTree } from "./waiting-calls.ts";

/** Whom an answer goes to. `others` wait besides; unknown where the session stands alone, and is itself to say. */
export type AnswerTarget = {
  readonly session: string;
  readonly toolCallId: string | undefined;
  readonly others?: number;
};

/** The session itself when no agent works below it; else the one whose call it is. */
export async function targetOf(
  link: Link,
  session: string,
  toolCallId: string | undefined,
): Promise<AnswerTarget> {
  const root = await describeRun(link, session);
  const runs = root === undefined || !isOpen(root) ? [] : await runsBelow(link, root);
  if (root === undefined || runs.length === 0) return { session, toolCallId };
  const waiting = await waitingInTree(link, root, runs);
  const found = chosen(session, waiting, toolCallId);
  return { session: found.session, toolCallId: found.toolCallId, others: waiting.length - 1 };
}

function chosen(session: string, waiting: readonly Waiting[], toolCallId: string | undefined): Waiting {
  const fitting =
    toolCallId === undefined ? waiting : waiting.filter((call) => call.toolCallId === toolCallId);
  const own = toolCallId === undefined ? undefined : fitting.find((call) => call.session === session);
  const [first, ...others] = fitting;
  if (first === undefined) {
    const which = toolCallId === undefined ? "No call" : `No call ${toolCallId}`;
    const those = waiting.length === 0 ? "" : `; these do: ${list(waiting)}`;
    throw nothingWaits(session, `${which} of it or of an agent below it waits for a person${those}`);
  }
  if (others.length === 0) return first;
  // An id names a call of the session itself before it names one below.
  if (own !== undefined) return own;
  const advice =
    toolCallId === undefined ? "say which with its id" : "answer at the session whose call you mean";
  throw new HoldfastError(
    "input-invalid",
    `Session ${session} did not take the answer: ${fitting.length} calls wait in its tree; ${advice}: ${list(fitting)}.`,
    { session },
  );
}

function list(waiting: readonly Waiting[]): string {
  return waiting
    .map(({ toolCallId, tool, summary, session }) => `${toolCallId} (${tool} ${summary}, of ${session})`)
    .join(", ");
}
