import { createMissingKeyError, readKeyId } from "../../platform/encryption/key-ring.ts";
import type { Encryption } from "../../platform/encryption/resolve-encryption.ts";
import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";

/** The prefix of encrypted lines. JSON does not begin like this. */
const ENCRYPTED_FIELD = "sealed:";

/** Creates the codec. Live output is encrypted if the transcript is; plain lines stay readable. */
export function createEncryptedLineCodec({ ring, transcript }: Encryption): LineCodec {
  if (ring === undefined) return { ...PLAIN_LINES, decode: rejectLine };
  return {
    encode: (json) =>
      transcript
        ? `${ENCRYPTED_FIELD}${ring.encrypt("live", Buffer.from(json, "utf8"), "").toString("base64")}`
        : json,
    decode: (line) =>
      line.startsWith(ENCRYPTED_FIELD) ? ring.decrypt("live", decodeBytes(line), "").toString("utf8") : line,
  };
}

function rejectLine(line: string): string {
  if (line.startsWith(ENCRYPTED_FIELD)) throw createMissingKeyError(readKeyId(decodeBytes(line)) ?? "", []);
  return line;
}

function decodeBytes(encrypted: string): Buffer {
  return Buffer.from(encrypted.slice(ENCRYPTED_FIELD.length), "base64");
}
