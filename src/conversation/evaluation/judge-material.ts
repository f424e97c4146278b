import type { AgentMessage, Content } from "../../schema/message.ts";

/** All that a judge is shown (PAR-07): texts only; no calls, results, images, thinking or turns on the way. */
export type JudgeMaterial = {
  /** A transcript; empty when nothing was said before. */
  readonly prior: string;
  readonly query: string;
  /** In the order of their numbers. */
  readonly responses: readonly string[];
};

/**
 * @param context - What all branches began with: the first `originalContextLength` messages.
 * @param prompts - What was asked of all; empty when they went on with what was there.
 * @param responses - Of the branches that are to be compared, by `getLastAnswerText`.
 */
export function buildJudgeMaterial(
  context: readonly AgentMessage[],
  prompts: readonly AgentMessage[],
  responses: readonly string[],
): JudgeMaterial {
  if (prompts.length > 0) return { prior: formatTranscript(context), query: formatQuery(prompts), responses };
  const asked = context.findLastIndex(({ role }) => role === "user");
  // PAR-09: what stands between the query and the branches' own messages is in neither part.
  const prior = formatTranscript(asked < 0 ? context : context.slice(0, asked));
  return { prior, query: formatQuery(context.slice(asked, asked + 1)), responses };
}

/** The text of the last answer among a branch's own messages; empty when there is none. */
export function getLastAnswerText(own: readonly AgentMessage[]): string {
  const last = own.findLast(({ role }) => role === "assistant");
  return last?.role === "assistant" ? getText(last.content) : "";
}

function formatQuery(messages: readonly AgentMessage[]): string {
  return messages
    .flatMap((message) => (message.role === "user" ? [getText(message.content)] : []))
    .filter((text) => text !== "")
    .join("\n");
}

function formatTranscript(messages: readonly AgentMessage[]): string {
  return messages.flatMap(formatMessage).join("\n");
}

function formatMessage(message: AgentMessage): readonly string[] {
  if (message.role !== "user" && message.role !== "assistant") return [];
  const text = getText(message.content);
  if (text === "") return [];
  return [`${message.role === "user" ? "User" : "Assistant"}: ${text}`];
}

function getText(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
