import { asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";

// The citations of a text. The API requires the citations of its own search back with the text, so they are
// stored as the text's token.

export function formatCitationToken(citations: readonly unknown[]): string | undefined {
  return citations.length === 0 ? undefined : JSON.stringify({ citations });
}

/** Parses the citations for a request. Returns `undefined` for a token of another format. */
export function parseCitationToken(signature: string | undefined): readonly JsonObject[] | undefined {
  const list = asObject(parseJson(signature ?? ""))?.["citations"];
  if (!Array.isArray(list)) return undefined;
  const citations = list.map(asObject).filter((citation) => citation !== undefined);
  if (citations.length === 0 || citations.length < list.length) return undefined;
  // Part of an answer, but rejected in a request.
  return citations.map(({ file_id: _, ...citation }) => citation);
}
