import type { CacheConfig, ModelConfig } from "../../schema/model.ts";
import { markedMessages } from "../cache-marks.ts";
import { converseModel } from "./models.ts";
import type { CachePoint, WireBlock, WireMessage } from "./wire.ts";

const POINT: CachePoint = { cachePoint: { type: "default" } };

/** Where a prompt cache may end (CACHE-02, CACHE-03), as far as the model takes it there. */
export type CachePoints = { readonly system: boolean; readonly tools: boolean; readonly messages: boolean };

export function cachePoints(model: ModelConfig, { enabled, strategy }: CacheConfig): CachePoints {
  const { cache } = converseModel(model);
  const taken = enabled && strategy !== "disabled" && cache !== "nowhere";
  const wanted =
    strategy === "auto" || strategy === "disabled"
      ? { cacheSystem: true, cacheTools: true, cacheMessages: true }
      : strategy;
  return {
    system: taken && wanted.cacheSystem,
    tools: taken && wanted.cacheTools && cache === "everywhere",
    messages: taken && wanted.cacheMessages,
  };
}

export function withPoint<Item>(items: readonly Item[], wanted: boolean): readonly (Item | CachePoint)[] {
  return wanted && items.length > 0 ? [...items, POINT] : items;
}

/** Into the messages in which a cache ends. */
export function markHistory(messages: readonly WireMessage[]): readonly WireMessage[] {
  const ends = markedMessages(messages);
  return messages.map((message, index) => (ends.includes(index) ? marked(message) : message));
}

/** No cache point may follow a block of reasoning; one may stand before it. */
function marked(message: WireMessage): WireMessage {
  const last = message.content.findLastIndex((block) => !("reasoningContent" in block));
  if (last < 0) return message;
  const content: WireBlock[] = [...message.content];
  content.splice(last + 1, 0, POINT);
  return { ...message, content };
}
