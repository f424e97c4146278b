import type { Encryption } from "../../platform/encryption/encryption.ts";
import { keyIdOf, missingKey } from "../../platform/encryption/key-ring.ts";
import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";

/** Before what is sealed; JSON begins otherwise. */
const SEALED = "sealed:";

/** Live output is kept as the transcript is: sealed where that is. What is plain stays readable. */
export function sealedLines({ ring, transcript }: Encryption): LineCodec {
  if (ring === undefined) return { ...PLAIN_LINES, decode: refused };
  return {
    encode: (json) =>
      transcript ? `${SEALED}${ring.seal("live", Buffer.from(json, "utf8"), "").toString("base64")}` : json,
    decode: (line) =>
      line.startsWith(SEALED) ? ring.open("live", bytesIn(line), "").toString("utf8") : line,
  };
}

function refused(line: string): string {
  if (line.startsWith(SEALED)) throw missingKey(keyIdOf(bytesIn(line)) ?? "", []);
  return line;
}

function bytesIn(sealed: string): Buffer {
  return Buffer.from(sealed.slice(SEALED.length), "base64");
}
