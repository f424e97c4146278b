import { ProtocolError } from "../../platform/text/protocol-error.ts";
import type { AgentMessage } from "../../schema/message.ts";

// A memo is what a model leaves in place of what it prunes. Its text is in the transcript, as an argument of the
// pruning call; a view refers to it.

/** The argument of `prun_with_memo` that holds the text. */
const MEMO_ARGUMENT = "memo";

export function wrapMemo(text: string): string {
  return `[Memo on what was pruned here] ${text}`;
}

/** Formats a memo for a view. A view that refers to a missing memo is a bug. */
export function formatMemo(
  answer: AgentMessage | undefined,
  location: { position: number; call: number },
): string {
  const calls = answer?.role === "assistant" ? answer.content.filter((part) => part.type === "toolCall") : [];
  const given = calls[location.call]?.arguments;
  const content = findMemo(given);
  if (content === undefined) {
    throw new ProtocolError(`Call ${location.call} of the answer at ${location.position} holds no memo`);
  }
  return wrapMemo(content);
}

/** Finds the memo among a call's arguments, which may be an object or its JSON text. */
export function findMemo(given: unknown): string | undefined {
  if (given === null || typeof given !== "object") return undefined;
  const memo = (given as Record<string, unknown>)[MEMO_ARGUMENT];
  return typeof memo === "string" ? memo : undefined;
}
