import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Shorter ones could be guessed. */
export const MIN_TOKEN_CHARS = 16;

/** What whoever asks must know. */
export class Token {
  readonly #digest: Buffer;
  readonly #codecKey: string;

  constructor(secret: string) {
    this.#digest = hashText(secret);
    this.#codecKey = createHmac("sha256", secret).update("holdfast codec server").digest("base64url");
  }

  /** Takes the same time whatever is given, and however much of it is right. */
  matches(candidate: string): boolean {
    return timingSafeEqual(this.#digest, hashText(candidate));
  }

  /**
   * Opens the codec routes and nothing else. It stands in their address, because the Temporal UI sends no header of ours;
   * who has it cannot find the token.
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
