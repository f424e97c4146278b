import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Shorter tokens could be guessed. */
export const MIN_TOKEN_CHARS = 16;

/** The secret that every client must send. */
export class Token {
  readonly #digest: Buffer;
  readonly #codecKey: string;

  constructor(secret: string) {
    this.#digest = hashText(secret);
    this.#codecKey = createHmac("sha256", secret).update("holdfast codec server").digest("base64url");
  }

  /** Takes the same time whatever the candidate, and however much of it is right. */
  matches(candidate: string): boolean {
    return timingSafeEqual(this.#digest, hashText(candidate));
  }

  /**
   * Grants access to the codec routes only. It is part of their address, because the Temporal UI cannot send the token's
   * header. The token cannot be derived from it.
   */
  get codecKey(): string {
    return this.#codecKey;
  }

  matchesCodecKey(candidate: string): boolean {
    return timingSafeEqual(hashText(this.#codecKey), hashText(candidate));
  }
}

export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

function hashText(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
