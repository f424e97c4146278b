import { type JsonObject, listOf, objectOf, parseJson } from "../json.ts";

// What a text rests on: kept as the text's token, and back with the text as a block of its own kind.

export function citedAs(citations: readonly unknown[]): string {
  return JSON.stringify({ citations });
}

/** None for a token of another form: Bedrock serves other protocols under the same name. */
export function citationsIn(signature: string | undefined): readonly JsonObject[] {
  const list = listOf(objectOf(parseJson(signature ?? ""))?.["citations"]);
  const citations = list.map(objectOf).filter((citation) => citation !== undefined);
  // The Messages API gives each a type.
  return citations.some((citation) => "type" in citation) ? [] : citations;
}
