import { asList, asObject, type JsonObject, parseJson } from "../json.ts";

// What a text rests on: kept as the text's token, and back with the text as a block of its own kind.

export function formatCitationToken(citations: readonly unknown[]): string {
  return JSON.stringify({ citations });
}

/** None for a token of another form: Bedrock serves other protocols under the same name. */
export function parseCitationToken(signature: string | undefined): readonly JsonObject[] {
  const list = asList(asObject(parseJson(signature ?? ""))?.["citations"]);
  const citations = list.map(asObject).filter((citation) => citation !== undefined);
  // The Messages API gives each a type.
  return citations.some((citation) => "type" in citation) ? [] : citations;
}
