const WIDTH = 112;
const NAME_WIDTH = 11;
const CODES = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, grey: 90, bold: 1 };

/** Prints lines with the time since the start and the speaker; in colours on a terminal that supports them. */
export class LinePrinter {
  #out;
  #startedAt = Date.now();
  #colours;
  #lastName = "";

  constructor(out) {
    this.#out = out;
    this.#colours = out.isTTY === true && !process.env.NO_COLOR;
  }

  /** The width for text after the time and the name. */
  get width() {
    return Math.max(40, Math.min(this.#out.columns ?? WIDTH, WIDTH) - 8 - NAME_WIDTH);
  }

  paint(colour, text) {
    return this.#colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  }

  /** Prints one wrapped paragraph. */
  say(name, text, colour) {
    for (const line of wrapText(text, this.width)) this.line(name, line, colour);
  }

  /** Prints one line, truncated at the terminal's width. */
  line(name, text, colour) {
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(1).padStart(5);
    const shown = name === this.#lastName ? "" : name;
    this.#lastName = name;
    const cut = text.length > this.width ? `${text.slice(0, this.width - 1)}…` : text;
    const body = colour === undefined ? cut : this.paint(colour, cut);
    this.#out.write(
      `${this.paint("grey", `${seconds}s`)} ${this.paint("bold", shown.padEnd(NAME_WIDTH))} ${body}\n`,
    );
  }

  /** Prints the text unchanged. */
  plain(text = "") {
    this.#lastName = "";
    this.#out.write(`${text}\n`);
  }
}

export function wrapText(text, width) {
  return text.split("\n").flatMap((paragraph) => {
    const lines = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === "" ? word : `${line} ${word}`;
      }
    }
    return [...lines, line];
  });
}
