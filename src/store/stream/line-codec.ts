import type { Delta } from "./stream-hub.ts";

/** The encoding of deltas in storage: plain JSON, or encrypted. */
export type LineCodec = {
  /** @returns One line, without its line break, that does not begin with `#`. */
  encode(json: string): string;
  /** Throws for a line that it cannot decode. */
  decode(line: string): string;
};

export const PLAIN_LINES: LineCodec = { encode: (json) => json, decode: (line) => line };

/** Parses a delta. Returns undefined for a line that a dying writer cut off, or that the codec cannot decode. */
export function parseDelta(line: string, codec: LineCodec): Delta | undefined {
  try {
    const value = JSON.parse(codec.decode(line)) as Delta | null;
    return typeof value?.session === "string" && typeof value.body?.type === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
