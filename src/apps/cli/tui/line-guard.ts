import { stripControls } from "../palette.ts";
import { CURSOR_MARKER, truncateToWidth, visibleWidth } from "./pi-tui.ts";

// Every line of the chat's screen goes through this file. Text from outside (answers, output of tools, names, errors) must
// not move the cursor, set a title, write to the clipboard or reorder letters. Only colours and attributes pass, and the
// library's mark of the cursor. A line that is too wide for the terminal would shift all lines below it, so it is cut.

/** Colours and attributes: ECMA-48, "select graphic rendition". */
const STYLE = new RegExp(`(${String.fromCodePoint(27)}\\[[\\d;]*m|${CURSOR_MARKER})`);

export function guardLine(line: string, width: number): string {
  const safe = line
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : stripControls(part).replace(/[\n\t]/g, " ")))
    .join("")
    // The library fills lines up with blanks, which a terminal that becomes narrower would wrap.
    .trimEnd();
  return visibleWidth(safe) <= width ? safe : truncateToWidth(safe, width, "");
}

/** Makes text from outside safe before it is styled; tabs become blanks, whose width is known. */
export function sanitizeText(text: string): string {
  return stripControls(text).replaceAll("\t", "    ");
}

/** Guards the lines of a screen; lines that the last screen had are not examined again. */
export class LineGuard {
  #known = new Map<string, string>();
  #width = 0;

  guard(lines: readonly string[], width: number): string[] {
    if (width !== this.#width) this.#known.clear();
    this.#width = width;
    const known = new Map<string, string>();
    const guarded = lines.map((line) => {
      const safe = this.#known.get(line) ?? guardLine(line, width);
      known.set(line, safe);
      return safe;
    });
    this.#known = known;
    return guarded;
  }
}
