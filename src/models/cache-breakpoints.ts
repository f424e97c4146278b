/** How many blocks before a mark the vendor searches for a cached prefix. */
const LOOKBACK_BLOCKS = 20;

type Message = { readonly role: string; readonly content: readonly unknown[] };

/**
 * Selects the messages in which a prompt cache ends (CACHE-02): the second-to-last, because the last one changes with the
 * next turn. If the previous request's mark is out of the lookback range, that one too: with the marks of the tools and
 * the system prompt these are four, the maximum for a request.
 */
export function selectCacheBreakpoints(messages: readonly Message[]): readonly number[] {
  const last = messages.length - 2;
  if (last < 0) return [];
  // The previous request ended where the last answer begins.
  const before = messages.findLastIndex(({ role }) => role === "assistant") - 2;
  const between = messages.slice(Math.max(0, before + 1), last + 1);
  const blocks = between.reduce((sum, { content }) => sum + content.length, 0);
  return before >= 0 && blocks >= LOOKBACK_BLOCKS ? [before, last] : [last];
}
