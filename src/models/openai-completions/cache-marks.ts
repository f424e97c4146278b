import type { CacheConfig, ModelConfig, OpenAiCompat } from "../../schema/model.ts";
import { isCacheEnabled } from "../cache-key.ts";
import type { WireMessage, WirePart, WireText } from "./wire.ts";

// Servers of this protocol cache automatically. OpenAI accepts a key that groups related requests; OpenRouter requires
// marks where the prompts of some vendors may be cached.

/** Other servers reject an unknown field. */
export function takesCacheKey({ provider }: ModelConfig, { supportsStore }: OpenAiCompat): boolean {
  return provider === "openai" && supportsStore;
}

/** Models whose vendor caches only what is marked. */
const MODELS_WITH_MARKS = /^~?anthropic\/|(?:^|\/)claude-/;

/** Applies the marks for OpenRouter (CACHE-02, CACHE-03): to the system prompt with the tools, and to the history. */
export function applyCacheMarks(
  messages: readonly WireMessage[],
  { provider, id }: ModelConfig,
  cache: CacheConfig,
): readonly WireMessage[] {
  if (provider !== "openrouter" || !MODELS_WITH_MARKS.test(id) || !isCacheEnabled(cache)) return messages;
  const { strategy } = cache;
  const markedParts = typeof strategy === "string" ? undefined : strategy;
  const indexes = [
    // Tools precede the system prompt: its end is the end of both.
    (markedParts?.cacheSystem ?? true) || markedParts?.cacheTools === true ? findSystemMessage(messages) : -1,
    (markedParts?.cacheMessages ?? true) ? findLastMarkable(messages) : -1,
  ];
  return messages.map((message, at) => (indexes.includes(at) ? markMessage(message) : message));
}

function findSystemMessage(messages: readonly WireMessage[]): number {
  return messages.findIndex(({ role }) => role === "system" || role === "developer");
}

/** Finds the newest message that can carry a mark: the next request begins with everything up to it. */
function findLastMarkable(messages: readonly WireMessage[]): number {
  const instructs = ({ role }: WireMessage) => role === "system" || role === "developer";
  return messages.findLastIndex((message) => !instructs(message) && hasText(message));
}

function hasText({ content }: WireMessage): boolean {
  if (typeof content === "string") return content !== "";
  return (content ?? []).some((part: WirePart) => part.type === "text");
}

function markMessage(message: WireMessage): WireMessage {
  const { content } = message;
  const parts: readonly WirePart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const last = parts.findLastIndex(({ type }) => type === "text");
  const mark = (part: WirePart, at: number): WirePart =>
    at === last ? { ...(part as WireText), cache_control: { type: "ephemeral" } } : part;
  return { ...message, content: parts.map(mark) } as WireMessage;
}
