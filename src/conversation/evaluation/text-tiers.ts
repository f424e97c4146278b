import { countUtf8Bytes } from "../../core/view/estimate.ts";

// Shortens a text for a judge, in three tiers, each stronger and each applied to the result of the previous one
// (PAR-11, X-21).

/** The number of lines that the first tier keeps, from the end. */
const TIER_ONE_LINES = 80;

/** The number of characters that the third tier always leaves of a text, however small the budget is. */
const TIER_THREE_MIN_CHARS = 200;

/** The bytes of a token by our estimate (CTX-01). */
const BYTES_PER_TOKEN = 4;

export type Tier = 1 | 2 | 3;

/** @param limit - For the third tier: see `computeHardLimit`. */
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

/** Returns the last lines. A line break at the end begins no line. */
function keepLastLines(text: string): string {
  const kept = text.endsWith("\n") ? TIER_ONE_LINES + 1 : TIER_ONE_LINES;
  return text.split("\n").slice(-kept).join("\n");
}

/** Returns the first paragraph and the last. A text without a paragraph between them stays whole. */
function keepOuterParagraphs(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== "");
  if (paragraphs.length < 3) return text;
  return `${paragraphs[0]}\n\n...\n\n${paragraphs.at(-1)}`;
}

/** Computes what each of several texts may keep of the tokens that are left for all of them. */
export function computeHardLimit(tokens: number, texts: number): number {
  return Math.max(TIER_THREE_MIN_CHARS, Math.floor((tokens * BYTES_PER_TOKEN) / Math.max(1, texts)));
}

/**
 * Returns the beginning of a text, without cutting a character in half.
 *
 * The limit counts UTF-8 bytes, as the estimate does, so that the result fits: the same number of characters when each is
 * one byte, and fewer in other scripts. `TIER_THREE_MIN_CHARS` characters remain in any script.
 */
function truncateText(text: string, limit: number): string {
  let chars = 0;
  let bytes = 0;
  let kept = 0;
  for (const char of text) {
    chars += 1;
    bytes += countUtf8Bytes(char);
    if (chars > TIER_THREE_MIN_CHARS && bytes > limit) break;
    kept += char.length;
  }
  return text.slice(0, kept);
}
