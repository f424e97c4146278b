// Names, messages and files of a repository may contain characters that act on a terminal, or that show a text in another
// order than it has. Everything that leaves a tool has them in a visible form. (The codes are those of Unicode: C0 and C1
// controls, marks of direction, characters of no width, line and paragraph separators, tags.)

const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not come through
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu;

/** Returns the text with its control characters as escapes: `\x1b`, `\u{202e}`. Line feeds and tabs stay. */
export function toVisibleText(text: string): string {
  return text.replace(INVISIBLE, escapeCharacter);
}

/** Returns a name as one line: in quotes if it contains characters that are not plain, as git shows it. */
export function toVisibleName(name: string): string {
  const visible = toVisibleText(name).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  return visible === name && !/["\\]/.test(name) ? name : `"${visible.replace(/"/g, '\\"')}"`;
}

/** Writes a value as one line of JSON that is safe to print. Parsing it returns the very same value. */
export function toVisibleJson(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function escapeCharacter(found: string): string {
  if (found === "\r") return "\\r";
  const code = found.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
