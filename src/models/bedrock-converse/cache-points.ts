import type { CacheConfig, ModelConfig } from "../../schema/model.ts";
import { selectCacheBreakpoints } from "../cache-breakpoints.ts";
import { describeConverseModel } from "./converse-model.ts";
import type { CachePoint, WireBlock, WireMessage } from "./wire.ts";

const CACHE_POINT: CachePoint = { cachePoint: { type: "default" } };

/** Where a prompt cache may end (CACHE-02, CACHE-03), as far as the model supports it. */
export type CachePoints = { readonly system: boolean; readonly tools: boolean; readonly messages: boolean };

export function selectCachePoints(model: ModelConfig, { enabled, strategy }: CacheConfig): CachePoints {
  const { cache } = describeConverseModel(model);
  const supported = enabled && strategy !== "disabled" && cache !== "nowhere";
  const wanted =
    strategy === "auto" || strategy === "disabled"
      ? { cacheSystem: true, cacheTools: true, cacheMessages: true }
      : strategy;
  return {
    system: supported && wanted.cacheSystem,
    tools: supported && wanted.cacheTools && cache === "everywhere",
    messages: supported && wanted.cacheMessages,
  };
}

export function appendCachePoint<Item>(
  items: readonly Item[],
  wanted: boolean,
): readonly (Item | CachePoint)[] {
  return wanted && items.length > 0 ? [...items, CACHE_POINT] : items;
}

/** Marks the messages in which a cache ends. */
export function markHistory(messages: readonly WireMessage[]): readonly WireMessage[] {
  const ends = selectCacheBreakpoints(messages);
  return messages.map((message, index) => (ends.includes(index) ? markMessage(message) : message));
}

/** Marks a message. No cache point may follow a block of reasoning; one may precede it. */
function markMessage(message: WireMessage): WireMessage {
  const last = message.content.findLastIndex((block) => !("reasoningContent" in block));
  if (last < 0) return message;
  const content: WireBlock[] = [...message.content];
  content.splice(last + 1, 0, CACHE_POINT);
  return { ...message, content };
}
