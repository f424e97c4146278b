import { createHash } from "node:crypto";

/** Returns the SHA-256 of a text's UTF-8, or of bytes, in hex. */
export function hashText(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex");
}
