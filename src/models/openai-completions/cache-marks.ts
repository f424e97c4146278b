import type { CacheConfig, ModelConfig, OpenAiCompat } from "../../schema/model.ts";
import { isCacheEnabled } from "../cache-key.ts";
import type { WireMessage, WirePart, WireText } from "./wire.ts";

// Servers of this protocol cache by themselves. OpenAI likes to be told which questions belong together; OpenRouter must
// be told where the prompts of some vendors may be cached.

/** Others refuse a field that they do not know. */
export function takesCacheKey({ provider }: ModelConfig, { supportsStore }: OpenAiCompat): boolean {
  return provider === "openai" && supportsStore;
}

/** Models whose vendor caches what is marked and nothing else. */
const MODELS_WITH_MARKS = /^~?anthropic\/|(?:^|\/)claude-/;

/** The marks for the way over OpenRouter (CACHE-02, CACHE-03): the system prompt with the tools, and the history. */
export function applyCacheMarks(
  messages: readonly WireMessage[],
  { provider, id }: ModelConfig,
  cache: CacheConfig,
): readonly WireMessage[] {
  if (provider !== "openrouter" || !MODELS_WITH_MARKS.test(id) || !isCacheEnabled(cache)) return messages;
  const { strategy } = cache;
  const isMarkedModel = typeof strategy === "string" ? undefined : strategy;
  const indexes = [
    // Tools stand before the system prompt: the end of it is the end of both.
    (isMarkedModel?.cacheSystem ?? true) || isMarkedModel?.cacheTools === true
      ? findSystemMessage(messages)
      : -1,
    (isMarkedModel?.cacheMessages ?? true) ? findLastMarkable(messages) : -1,
  ];
  return messages.map((message, at) => (indexes.includes(at) ? markMessage(message) : message));
}

function findSystemMessage(messages: readonly WireMessage[]): number {
  return messages.findIndex(({ role }) => role === "system" || role === "developer");
}

/** The newest that can carry a mark: the next question begins with all that goes before it. */
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
