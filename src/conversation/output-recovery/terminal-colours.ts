// biome-ignore-start lint/suspicious/noControlCharactersInRegex: this is how control sequences begin
const COLOUR = /\u001b\[[0-9;:?]*[A-Za-z]/;
const COLOURS_OR_TEXT = /(?:\u001b\[[0-9;:?]*[A-Za-z])+|"(?:[^"\\]|\\[\s\S])*"/g;
const COLOURED_TEXT = /^"\s*\u001b\[/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: this is how control sequences begin
const ENDS_PART = /(?:^|["'{}[\],:])\s*$/;
const BEGINS_PART = /^\s*(?:$|["'{}[\],:])/;

/**
 * Removes the colours around names and values. Colours within texts alone are the author's, and stay.
 *
 * @returns The text, or "doubtful" if colours may be the author's, or those of the program that coloured the rest.
 */
export function removeColours(text: string): string | "doubtful" {
  if (!COLOUR.test(text)) return text;
  const around: RegExpExecArray[] = [];
  let isWithinTexts = false;
  for (const found of text.matchAll(COLOURS_OR_TEXT)) {
    if (COLOURED_TEXT.test(found[0])) return "doubtful";
    if (!found[0].startsWith('"')) around.push(found);
    else isWithinTexts ||= COLOUR.test(found[0]);
  }
  if (around.length === 0) return text;
  if (isWithinTexts || !around.every((found) => isBesidePart(text, found))) return "doubtful";
  return text.replace(COLOURS_OR_TEXT, (found) => (found.startsWith('"') ? found : ""));
}

function isBesidePart(text: string, { 0: colours, index }: RegExpExecArray): boolean {
  const end = index + colours.length;
  return (
    ENDS_PART.test(text.slice(Math.max(0, index - 20), index)) || BEGINS_PART.test(text.slice(end, end + 20))
  );
}
