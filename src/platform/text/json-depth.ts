/**
 * The maximum nesting of external JSON. Recursive code exceeds the stack at some thousands of levels; real data has fewer
 * than a hundred.
 */
export const MAX_JSON_DEPTH = 256;

const QUOTE = 34;
const BACKSLASH = 92;
const [OPEN_LIST, CLOSE_LIST, OPEN_TABLE, CLOSE_TABLE] = [91, 93, 123, 125];

/** Checks whether a text is nested too deeply. Brackets within strings do not count. */
export function isTooDeep(json: string, maxDepth = MAX_JSON_DEPTH): boolean {
  if (json.length <= maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at + 1);
    else if (code === OPEN_LIST || code === OPEN_TABLE) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_TABLE) depth -= 1;
  }
  return false;
}

/** Checks whether a value is nested too deeply. It uses no recursion, because the value may be too deep for that. */
export function isValueTooDeep(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** Finds the quote that ends a string, or the end of the text. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let before = at;
    while (before > from && json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return json.length;
}
