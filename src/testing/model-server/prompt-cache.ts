import { createHash } from "node:crypto";

/** A segment of a prompt, in the order in which the vendor reads it. */
export type PromptSegment = {
  readonly json: string;
  /** Whether the vendor may cache the prompt up to the end of this segment. */
  readonly isCachePoint: boolean;
};

export type Prompt = {
  readonly segments: readonly PromptSegment[];
  /** The minimum prefix in tokens: the vendor caches no shorter one. */
  readonly minTokens: number;
};

/** The token counts of a prompt, at 4 bytes a token. */
export type CachedTokens = {
  /** Found in the cache. */
  readonly read: number;
  /** Put into the cache. */
  readonly write: number;
  /** Neither read from the cache nor written to it. */
  readonly uncached: number;
};

/** How many segments before a mark the vendor searches for a cached prefix. */
const LOOKBACK_SEGMENTS = 20;

/**
 * Caches prefixes of prompts as vendors do: separately for each key and model, up to a mark. A later prompt hits the cache
 * if it begins with the same bytes, and the prefix ends at one of its marks or a few segments before one.
 */
export class PromptCache {
  readonly #cachedPrefixes = new Set<string>();

  /** Returns which tokens of the prompt its owner had cached, and caches its marked prefixes. */
  readAndStore({ segments, minTokens }: Prompt, owner: string): CachedTokens {
    const hash = createHash("sha256").update(owner).update("\0");
    const names: string[] = [];
    const ends: number[] = [];
    let bytes = 0;
    for (const { json } of segments) {
      hash.update(json).update("\0");
      bytes += Buffer.byteLength(json);
      names.push(hash.copy().digest("hex"));
      ends.push(bytes);
    }
    const tokens = (at: number) => Math.ceil((at < 0 ? 0 : (ends[at] ?? 0)) / 4);
    const marks = [...segments.keys()].filter((at) => segments[at]?.isCachePoint && tokens(at) >= minTokens);
    const cachedIndex = Math.max(-1, ...marks.map((mark) => this.#findCachedPrefix(names, mark)));
    for (const mark of marks) this.#cachedPrefixes.add(names[mark] as string);
    const read = tokens(cachedIndex);
    const write = Math.max(0, tokens(marks.at(-1) ?? -1) - read);
    return { read, write, uncached: Math.ceil(bytes / 4) - read - write };
  }

  #findCachedPrefix(names: readonly string[], mark: number): number {
    for (let at = mark; at >= 0 && at > mark - LOOKBACK_SEGMENTS; at -= 1) {
      if (this.#cachedPrefixes.has(names[at] as string)) return at;
    }
    return -1;
  }
}
