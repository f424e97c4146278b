/**
 * Levels of tables and lists that a JSON text from elsewhere may have. What goes through a value level by level runs out
 * of room at some thousands, and not always at the door; nobody's data has a hundred.
 */
export const MAX_JSON_DEPTH = 256;

const QUOTE = 34;
const BACKSLASH = 92;
const OPENS = new Set([91, 123]);
const CLOSES = new Set([93, 125]);

/** Whether a text is nested deeper than that; brackets within strings do not count. */
export function isTooDeep(json: string, most = MAX_JSON_DEPTH): boolean {
  if (json.length <= most) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (isText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (OPENS.has(code)) {
      depth += 1;
      if (depth > most) return true;
    } else if (CLOSES.has(code)) depth -= 1;
  }
  return false;
}
