import { createHash } from "node:crypto";

/** JSON with the keys of every object sorted: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // A Map-like object without prototype, so that a key named __proto__ stays a key.
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) result[key] = sorted((value as Record<string, unknown>)[key]);
  return result;
}

/** SHA-256 in hex. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
