/** Tells a model the format of its answer (IRIS-16): for vendors that cannot enforce a schema, and as a reminder for others. */
export function formatResponseInstructions(schema: Readonly<Record<string, unknown>>): string {
  return [
    "=== CRITICAL: RESPONSE FORMAT ===",
    "When you have collected the evidence, answer with one JSON object and nothing else: no introduction, no code fence.",
    "It must match this JSON Schema:",
    JSON.stringify(schema, null, 2),
  ].join("\n");
}
