import { plainText } from "../plain-text.ts";

/** Words of a document, without what nobody sees. */
export function plain(words: string): string {
  return plainText(words, Number.POSITIVE_INFINITY);
}
