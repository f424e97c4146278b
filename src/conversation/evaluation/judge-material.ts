import type { AgentMessage } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";

/** Everything that a judge reads (PAR-07): texts only; no calls, results, images, thinking or intermediate turns. */
export type JudgeMaterial = {
  /** A transcript; empty when there was no earlier conversation. */
  readonly prior: string;
  readonly query: string;
  /** In the order of their numbers. */
  readonly responses: readonly string[];
};

/**
 * @param context - What all branches began with: the first `originalContextLength` messages.
 * @param prompts - The common prompts; empty when the branches continued the existing conversation.
 * @param responses - By `getLastAnswerText`, from the branches to compare.
 */
export function buildJudgeMaterial(
  context: readonly AgentMessage[],
  prompts: readonly AgentMessage[],
  responses: readonly string[],
): JudgeMaterial {
  if (prompts.length > 0) return { prior: formatTranscript(context), query: formatQuery(prompts), responses };
  const asked = context.findLastIndex(({ role }) => role === "user");
  // PAR-09: what is between the query and the branches' own messages is in neither part.
  const prior = formatTranscript(asked < 0 ? context : context.slice(0, asked));
  return { prior, query: formatQuery(context.slice(asked, asked + 1)), responses };
}

/** Returns the text of the last answer among a branch's own messages; empty when there is none. */
export function getLastAnswerText(own: readonly AgentMessage[]): string {
  const last = own.findLast(({ role }) => role === "assistant");
  return last?.role === "assistant" ? joinText(last.content) : "";
}

function formatQuery(messages: readonly AgentMessage[]): string {
  return messages
    .flatMap((message) => (message.role === "user" ? [joinText(message.content)] : []))
    .filter((text) => text !== "")
    .join("\n");
}

function formatTranscript(messages: readonly AgentMessage[]): string {
  return messages.flatMap(formatMessage).join("\n");
}

function formatMessage(message: AgentMessage): readonly string[] {
  if (message.role !== "user" && message.role !== "assistant") return [];
  const text = joinText(message.content);
  if (text === "") return [];
  return [`${message.role === "user" ? "User" : "Assistant"}: ${text}`];
}
