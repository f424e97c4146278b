import type { CacheConfig } from "../../schema/model.ts";
import { selectCacheBreakpoints } from "../cache-breakpoints.ts";
import type { WireBlock, WireMessage, WireTool } from "./wire.ts";

/** Where a prompt cache may end (CACHE-02, CACHE-03). */
export type Breakpoints = { readonly system: boolean; readonly tools: boolean; readonly messages: boolean };

export function selectBreakpoints({ enabled, strategy }: CacheConfig): Breakpoints {
  if (!enabled || strategy === "disabled") return { system: false, tools: false, messages: false };
  if (strategy === "auto") return { system: true, tools: true, messages: true };
  return { system: strategy.cacheSystem, tools: strategy.cacheTools, messages: strategy.cacheMessages };
}

const EPHEMERAL = { cache_control: { type: "ephemeral" } } as const;

export function markLast<Item extends WireBlock | WireTool>(items: readonly Item[]): readonly Item[] {
  return items.map((item, index) => (index === items.length - 1 ? { ...item, ...EPHEMERAL } : item));
}

/** Marks the last block of a message that can carry the mark. */
export function markHistory(messages: readonly WireMessage[]): readonly WireMessage[] {
  const marked = selectCacheBreakpoints(messages);
  return messages.map((message, index) => (marked.includes(index) ? markMessage(message) : message));
}

/** Kinds that can carry the mark. Thinking and empty texts cannot, and vendor-specific blocks are sent back unchanged. */
const MARKABLE: ReadonlySet<string> = new Set(["text", "image", "document", "tool_use", "tool_result"]);

function markMessage(message: WireMessage): WireMessage {
  const last = message.content.findLastIndex(
    (block) => MARKABLE.has(block.type) && !(block.type === "text" && block.text.trim() === ""),
  );
  const content = message.content.map((block, index) =>
    index === last ? { ...block, ...EPHEMERAL } : block,
  );
  return { ...message, content };
}
