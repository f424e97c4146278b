import { sanitiseText } from "../sanitise-text.ts";

/** Removes invisible characters from a document's text. */
export function sanitiseDocumentText(text: string): string {
  return sanitiseText(text, Number.POSITIVE_INFINITY);
}
