import type { Delta } from "./stream-hub.ts";

/** How a delta is kept where it lies in files: its JSON, unless it must not be read there. */
export type LineCodec = {
  /** @returns One line, without its end, that does not begin with `#`. */
  encode(json: string): string;
  /** Throws on what it cannot read. */
  decode(line: string): string;
};

export const PLAIN_LINES: LineCodec = { encode: (json) => json, decode: (line) => line };

/** A line that was cut off by the death of its writer, or that the codec does not know, is no delta. */
export function parseDelta(line: string, codec: LineCodec): Delta | undefined {
  try {
    const value = JSON.parse(codec.decode(line)) as Delta | null;
    return typeof value?.session === "string" && typeof value.body?.type === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
