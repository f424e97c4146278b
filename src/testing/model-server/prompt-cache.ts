import { createHash } from "node:crypto";

/** A piece of a prompt in the order in which the vendor reads it. */
export type PromptSegment = {
  readonly json: string;
  /** The prompt may be kept up to here. */
  readonly mark: boolean;
};

export type Prompt = {
  readonly pieces: readonly PromptSegment[];
  /** In tokens: the vendor keeps no beginning that is shorter. */
  readonly least: number;
};

/** Tokens of a prompt, at 4 bytes each. */
export type CachedTokens = { readonly read: number; readonly write: number; readonly rest: number };

/** How far behind a mark the vendor looks for a beginning that it knows. */
const LOOKBACK_SEGMENTS = 20;

/**
 * Keeps the beginnings of prompts as vendors do: for each key and model by itself, up to a mark, found again when every
 * byte before it is the same and it ends at a mark of the later prompt or a few pieces before one.
 */
export class PromptCache {
  readonly #cachedPrefixes = new Set<string>();

  /** What of this prompt was known to its owner; what it marks is known from now on. */
  readAndStore({ pieces, least }: Prompt, owner: string): CachedTokens {
    const hash = createHash("sha256").update(owner).update("\0");
    const names: string[] = [];
    const ends: number[] = [];
    let bytes = 0;
    for (const { json } of pieces) {
      hash.update(json).update("\0");
      bytes += Buffer.byteLength(json);
      names.push(hash.copy().digest("hex"));
      ends.push(bytes);
    }
    const tokens = (at: number) => Math.ceil((at < 0 ? 0 : (ends[at] ?? 0)) / 4);
    const marks = [...pieces.keys()].filter((at) => pieces[at]?.mark && tokens(at) >= least);
    const cachedIndex = Math.max(-1, ...marks.map((mark) => this.#findCachedPrefix(names, mark)));
    for (const mark of marks) this.#cachedPrefixes.add(names[mark] as string);
    const read = tokens(cachedIndex);
    const write = Math.max(0, tokens(marks.at(-1) ?? -1) - read);
    return { read, write, rest: Math.ceil(bytes / 4) - read - write };
  }

  #findCachedPrefix(names: readonly string[], mark: number): number {
    for (let at = mark; at >= 0 && at > mark - LOOKBACK_SEGMENTS; at -= 1) {
      if (this.#cachedPrefixes.has(names[at] as string)) return at;
    }
    return -1;
  }
}
