/** Formats JSON with sorted keys, so that equal values give equal texts. */
export function formatCanonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value)) ?? "null";
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  // An object without a prototype, so that a key named __proto__ stays a key.
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort())
    result[key] = sortKeys((value as Record<string, unknown>)[key]);
  return result;
}
