// Making a text shorter for a judge, in three tiers, each harsher and each applied to what the one before has left
// (PAR-11, X-21).

/** Lines that the first tier keeps, from the end. */
const TIER_ONE_LINES = 80;

/** What the third tier leaves of a text however small the budget is, in characters. */
const TIER_THREE_MIN_CHARS = 200;

/** Bytes a token has by our estimate (CTX-01). */
const BYTES_PER_TOKEN = 4;

export type Tier = 1 | 2 | 3;

/** @param limit - Of the third tier: see `computeHardLimit`. */
export function shortenText(text: string, tier: Tier, limit: number): string {
  switch (tier) {
    case 1:
      return keepLastLines(text);
    case 2:
      return keepOuterParagraphs(text);
    case 3:
      return truncateText(text, limit);
  }
}

/** A line break at the end begins no line. */
function keepLastLines(text: string): string {
  const lines = text.split("\n");
  const kept = text.endsWith("\n") ? TIER_ONE_LINES + 1 : TIER_ONE_LINES;
  return lines.length <= kept ? text : lines.slice(-kept).join("\n");
}

/** The first paragraph and the last. A text without one between them has nothing to leave out. */
function keepOuterParagraphs(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== "");
  if (paragraphs.length < 3) return text;
  return `${paragraphs[0]}\n\n...\n\n${paragraphs.at(-1)}`;
}

/** What each of several texts may keep of the tokens that are left for them together. */
export function computeHardLimit(tokens: number, texts: number): number {
  return Math.max(TIER_THREE_MIN_CHARS, Math.floor((tokens * BYTES_PER_TOKEN) / Math.max(1, texts)));
}

/**
 * The beginning of a text, cut at a character's edge.
 *
 * The limit is counted as the estimate counts, in bytes of UTF-8, so that what was cut fits: as many characters where
 * each is one byte, fewer of other scripts. `TIER_THREE_MIN_CHARS` characters are left in any script.
 */
function truncateText(text: string, limit: number): string {
  let chars = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) as number;
    chars += 1;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (chars > TIER_THREE_MIN_CHARS && bytes > limit) return text.slice(0, at);
    at += point < 0x10000 ? 1 : 2;
  }
  return text;
}
