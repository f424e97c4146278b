import type { Encryption } from "../codec/encryption.ts";
import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";

const ABOUT = "line";

/** Lines that only who has the keys can read. What lies there plainly is read in any case. */
export function sealedLines({ ring, transcript }: Encryption): LineCodec {
  if (ring === undefined) return PLAIN_LINES;
  return {
    encode: (json) => (transcript ? ring.seal("live", Buffer.from(json), ABOUT).toString("base64") : json),
    decode: (line) =>
      line.startsWith("{") ? line : ring.open("live", Buffer.from(line, "base64"), ABOUT).toString("utf8"),
  };
}
