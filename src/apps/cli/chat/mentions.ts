/** A mention that is being typed at the end of the text. */
const OPEN_MENTION = /(?:^|\s)(@(?:"([^"\n]*)|([^\s"]*)))$/;

/** @returns The mention before the cursor, from its `@`, and the part of the path that is typed. */
export function findOpenMention(
  before: string,
): { readonly typed: string; readonly path: string } | undefined {
  const match = OPEN_MENTION.exec(before);
  if (match === null) return undefined;
  const [, typed = "", quoted, plain = ""] = match;
  return { typed, path: quoted ?? plain };
}
