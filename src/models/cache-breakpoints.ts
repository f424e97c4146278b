/** How many blocks before a mark the vendor looks for what it has kept. */
const LOOKBACK_BLOCKS = 20;

type Message = { readonly role: string; readonly content: readonly unknown[] };

/**
 * The messages in which a prompt cache ends (CACHE-02): the second-to-last, since what comes later changes with the
 * next turn. Where the mark of the question before is out of its sight, that one too: with the tools' and the system
 * prompt's they are four, as many as a request may have.
 */
export function selectCacheBreakpoints(messages: readonly Message[]): readonly number[] {
  const last = messages.length - 2;
  if (last < 0) return [];
  // The question before this one ended where the last answer begins.
  const before = messages.findLastIndex(({ role }) => role === "assistant") - 2;
  const between = messages.slice(Math.max(0, before + 1), last + 1);
  const blocks = between.reduce((sum, { content }) => sum + content.length, 0);
  return before >= 0 && blocks >= LOOKBACK_BLOCKS ? [before, last] : [last];
}
