import type { AgentMessage } from "../../schema/message.ts";

/** Which messages of a list must stay together, because a call is in one and its result in the other. */
export type MessagePairs = {
  /** By index: whether a cut before this message would separate a call from its result. */
  readonly inseparable: readonly boolean[];
  /** Indices of results that no earlier answer requested. */
  readonly orphans: ReadonlySet<number>;
};

/** Assigns each result to the newest earlier answer that requested it: ids repeat from turn to turn (GAP-08). */
export function pairResults(messages: readonly AgentMessage[]): MessagePairs {
  const askedAt = new Map<string, number>();
  const lastResultOf = new Map<number, number>();
  const orphans = new Set<number>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") {
      for (const part of message.content) if (part.type === "toolCall") askedAt.set(part.id, index);
    } else if (message.role === "toolResult") {
      const answer = askedAt.get(message.toolCallId);
      if (answer === undefined) orphans.add(index);
      else lastResultOf.set(answer, index);
    }
  }
  let joinedUpTo = -1;
  const joined = messages.map((_, index) => {
    const inside = index <= joinedUpTo;
    joinedUpTo = Math.max(joinedUpTo, lastResultOf.get(index) ?? -1);
    return inside;
  });
  return { inseparable: joined, orphans };
}
