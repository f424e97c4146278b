/** What an object in JSON or Python consists of. */
const TOKEN =
  /\s+|[{}[\]():,]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|-?\d[\d.eE+-]*|true\b|false\b|null\b|True\b|False\b|None\b/y;

/**
 * Replaces the parentheses of tuples by the brackets of lists. Returns `undefined` where the object of a text has anything
 * but JSON and Python's values in its places: what looks like a parenthesis may then belong to a text.
 */
export function replaceParentheses(text: string): string | undefined {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}") + 1;
  if (from === -1 || !text.slice(from, to).includes("(")) return undefined;
  let replaced = text.slice(0, from);
  let isAfterValue = false;
  TOKEN.lastIndex = from;
  while (TOKEN.lastIndex < to) {
    const token = TOKEN.exec(text)?.[0];
    // The last bracket belongs to a text: the one that closes the object is missing.
    if (token === undefined || TOKEN.lastIndex > to) return undefined;
    const isSpace = token.trim() === "";
    const beginsValue = !isSpace && !"}]):,".includes(token);
    if (beginsValue && isAfterValue) return undefined;
    if (!isSpace) isAfterValue = !"{[(:,".includes(token);
    replaced += token === "(" ? "[" : token === ")" ? "]" : token;
  }
  return replaced + text.slice(to);
}
