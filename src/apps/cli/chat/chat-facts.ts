import type { AgentEvent, SessionStatus } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Usage } from "../../../schema/message.ts";
import type { ChatFacts } from "./status-line.ts";

// What the status line displays, from the session's events and its status, without terminal I/O.

export function stepFacts(facts: ChatFacts, event: AgentEvent): ChatFacts {
  switch (event.type) {
    case "AgentStart": {
      const { model, name, contextWindow } = event.configSnapshot ?? {};
      return { ...facts, ...omitUndefined({ model: name ?? model, contextWindow }) };
    }
    case "MessageEnd":
      return event.message.role === "assistant"
        ? { ...facts, ...omitUndefined({ contextTokens: countContext(event.message.usage) }) }
        : facts;
    case "CompactionEnded":
      return { ...facts, contextTokens: event.estimatedTokensAfter };
    default:
      return facts;
  }
}

export function applyStatus(facts: ChatFacts, status: SessionStatus): ChatFacts {
  const { model, contextTokens, costUsd, turns, pending } = status;
  return {
    ...facts,
    ...omitUndefined({
      model: facts.model ?? model,
      // The vendor's own count is exact; the estimate is all that there is before the first answer.
      contextTokens: facts.contextTokens ?? (contextTokens === 0 ? undefined : contextTokens),
      costUsd,
      turns,
    }),
    pending,
  };
}

/** @returns Nothing for an answer that failed before the vendor counted. */
function countContext({ input, output, cacheRead, cacheWrite }: Usage): number | undefined {
  return input + output + cacheRead + cacheWrite || undefined;
}
