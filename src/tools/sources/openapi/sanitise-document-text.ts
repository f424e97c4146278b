import { sanitiseText } from "../sanitise-text.ts";

/** Words of a document, without what nobody sees. */
export function sanitiseDocumentText(text: string): string {
  return sanitiseText(text, Number.POSITIVE_INFINITY);
}
