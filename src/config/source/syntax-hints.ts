// Says in plain words what is wrong with a text that a parser rejects, and what to write instead.

/** @param index - Where the parser stopped. @param message - The parser's own words. */
export function explainTomlError(text: string, index: number, message: string): string {
  const character = text.charAt(index);
  const rest = text.slice(index, lineEnd(text, index));
  const before = text.slice(text.lastIndexOf("\n", index - 1) + 1, index);
  if (message.startsWith("Defining a key multiple times")) return explainRepeatedKey(getWord(text, index));
  if (/[“”‘’„«»]/.test(character)) return `${character} is a typographic quote: write " instead`;
  if (/^\s*"?[\w.-]+"?\s*$/.test(before) && /^:?\s/.test(rest) && /:/.test(`${before}${rest}`))
    return 'A value follows its key after "=", not after ":"';
  if (/=\s*$/.test(before) && /^[\w./~-]/.test(rest)) return "A text needs quotes around it";
  if (character === "\t" || character === "" || character === "\n") return message;
  return `${message} ${JSON.stringify(character)}`;
}

/** @param code - The parser's name of the error: `CommaExpected`. */
export function explainJsonError(text: string, offset: number, code: string): string {
  if (code === "InvalidCommentToken")
    return "JSON has no comments: remove this one, or write the file in TOML or YAML";
  if (/,\s*$/.test(text.slice(0, offset)) && /^\s*[}\]]/.test(text.slice(offset)))
    return `There is a comma before ${text.slice(offset).trim().charAt(0)}: remove it`;
  if (text.charAt(offset) === "'") return "Texts have double quotes in JSON";
  const words = code.replace(/([a-z])([A-Z])/g, (_, left: string, right: string) => `${left} ${right}`);
  return words.charAt(0) + words.slice(1).toLowerCase();
}

export function explainYamlError(
  text: string,
  start: number,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  switch (code) {
    case "DUPLICATE_KEY":
      return explainRepeatedKey(getWord(text, start));
    case "TAB_AS_INDENT":
      return "Tabs are not allowed as indentation: use spaces";
    case "BAD_INDENT":
      return `${message}: indent this line like the ones of the same table`;
    default:
      return message;
  }
}

export function explainRepeatedKey(key: string): string {
  return `The key "${key}" occurs twice in its table: remove one of them, or merge the two`;
}

function lineEnd(text: string, index: number): number {
  const end = text.indexOf("\n", index);
  return end < 0 ? text.length : end;
}

/** Returns the key or word at an offset, without quotes. */
function getWord(text: string, index: number): string {
  return /^["']?([^"'\]=:\s]*)/.exec(text.slice(index))?.[1] ?? "";
}
