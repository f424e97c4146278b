import { asList, asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";

// The citations of a text: stored as the text's token, and sent back with the text as a block of their own kind.

export function formatCitationToken(citations: readonly unknown[]): string {
  return JSON.stringify({ citations });
}

/** Returns none for a token of another format: Bedrock serves other protocols under the same name. */
export function parseCitationToken(signature: string | undefined): readonly JsonObject[] {
  const list = asList(asObject(parseJson(signature ?? ""))?.["citations"]);
  const citations = list.map(asObject).filter((citation) => citation !== undefined);
  // In the Messages API each citation has a type.
  return citations.some((citation) => "type" in citation) ? [] : citations;
}
