import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Shorter ones could be guessed. */
export const MIN_TOKEN_CHARS = 16;

/** What whoever asks must know. */
export class Token {
  readonly #digest: Buffer;
  readonly #codecKey: string;

  constructor(secret: string) {
    this.#digest = digestOf(secret);
    this.#codecKey = createHmac("sha256", secret).update("holdfast codec server").digest("base64url");
  }

  /** Takes the same time whatever is given, and however much of it is right. */
  matches(given: string): boolean {
    return timingSafeEqual(this.#digest, digestOf(given));
  }

  /**
   * Opens the codec routes and nothing else. It stands in their address, because the Temporal UI sends no header of ours;
   * who has it cannot find the token.
   */
  get codecKey(): string {
    return this.#codecKey;
  }

  matchesCodecKey(given: string): boolean {
    return timingSafeEqual(digestOf(this.#codecKey), digestOf(given));
  }
}

export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
