import { createHash } from "node:crypto";
import type { CacheConfig } from "../schema/model.ts";

/** The vendors' own limit is 64. */
const KEY_CHARS = 32;

/** Derives a stable key that identifies a session to a vendor's cache without revealing its name. */
export function deriveCacheKey(session: string): string {
  const hash = createHash("sha256").update(`holdfast prompt cache ${session}`).digest("base64url");
  return hash.slice(0, KEY_CHARS);
}

export function isCacheEnabled({ enabled, strategy }: CacheConfig): boolean {
  return enabled && strategy !== "disabled";
}
