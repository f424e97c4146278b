/** The brackets of an object, perhaps encoded more than once. */
const OPENING = /%(?:25)*7B/i;
const LAST_CLOSING = /^[\s\S]*%(?:25)*7D/i;

/** Spaces, quotes and letters beyond ASCII are encoded always. */
const ENCODED = /^(?:%[0-9a-f]{2}|[\w.!~*'();,/?:@&=$#-])*$/i;

/** Decodes an object that is encoded as in an address. Returns `undefined` if the text has none, or an object beside it. */
export function decodePercent(text: string): string | undefined {
  const from = text.search(OPENING);
  const to = LAST_CLOSING.exec(text)?.[0].length ?? -1;
  // A plus sign is not read: it is a space in a form, and itself in an address.
  if (from === -1 || to < from || text.includes("{") || !ENCODED.test(text.slice(from, to))) return undefined;
  try {
    return text.slice(0, from) + decodeURIComponent(text.slice(from, to)) + text.slice(to);
  } catch {
    return undefined;
  }
}
