/** Every text in a value, names and payloads included; payloads of JSON text by text. */
export function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (value instanceof Uint8Array) {
    const text = Buffer.from(value).toString("utf8");
    try {
      return listTexts(JSON.parse(text));
    } catch {
      return [text];
    }
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...listTexts(member)]);
}
