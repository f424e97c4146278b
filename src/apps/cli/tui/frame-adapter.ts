// The terminal library draws a changed screen in one of two ways: it rewrites the changed lines, or it erases the screen and
// the scrollback and writes every line again. The second way loses what was on the terminal before the chat, and moves a
// reader who has scrolled up. This file turns it into writing the visible part of the screen again.

const ESCAPE = String.fromCodePoint(27);
const BEGIN = `${ESCAPE}[?2026h`;
const END = `${ESCAPE}[?2026l`;
/** What the library writes before all lines: erases the screen, moves home, erases the scrollback. */
const ERASE_ALL = `${ESCAPE}[2J${ESCAPE}[H${ESCAPE}[3J`;
const HOME = `${ESCAPE}[H`;
const ERASE_BELOW = `${ESCAPE}[J`;
const LINE_BREAK = "\r\n";

/** The most lines that are written again when the user asked for all of them. */
const MAX_REPRINTED_LINES = 2_000;

/** Adapts what the library writes. `rows` is the height of the terminal. */
export class FrameAdapter {
  /** The number of lines of the newest screen, all of them, and how many of them are above the terminal's first row. */
  #lines = 0;
  #above = 0;
  /** Whether other output may be on the terminal, which is not to be erased. */
  #isShared = true;
  #reprints = false;
  #previous: readonly string[] = [];

  /** To be called with the lines of each screen before the library writes it. */
  setLines(lines: readonly string[]): void {
    this.#lines = lines.length;
    this.#changedAt = findFirstDifference(this.#previous, lines);
    // The library changes the lines that it has received.
    this.#previous = [...lines];
  }
  #changedAt = 0;

  /** The conversation lost lines at its beginning. */
  dropLines(count: number): void {
    this.#above = Math.max(0, this.#above - count);
  }

  /** Lets the next complete redraw write every changed line, also those above the screen, as when the user expands them. */
  reprint(): void {
    this.#reprints = true;
  }

  /** Another program writes to the terminal. */
  share(): void {
    this.#isShared = true;
  }

  adapt(data: string, rows: number): string {
    const below = Math.max(0, this.#lines - rows);
    const start = data.indexOf(ERASE_ALL);
    if (!data.startsWith(BEGIN) || start < 0) {
      this.#above = Math.max(this.#above, below);
      if (this.#above > 0) this.#isShared = false;
      return data;
    }
    const end = data.endsWith(END) ? data.length - END.length : data.length;
    const lines = data.slice(start + ERASE_ALL.length, end).split(LINE_BREAK);
    const from = this.#reprints
      ? Math.min(below, Math.max(this.#changedAt, lines.length - MAX_REPRINTED_LINES))
      : Math.min(below, this.#above);
    // Other output moves to the scrollback.
    const push = this.#isShared ? `${ESCAPE}[${rows};1H${LINE_BREAK.repeat(rows)}` : "";
    this.#reprints = false;
    this.#isShared = false;
    this.#above = below;
    return `${BEGIN}${push}${HOME}${ERASE_BELOW}${lines.slice(from).join(LINE_BREAK)}${END}`;
  }
}

function findFirstDifference(one: readonly string[], other: readonly string[]): number {
  const index = one.findIndex((line, at) => line !== other[at]);
  return index < 0 ? Math.min(one.length, other.length) : index;
}
