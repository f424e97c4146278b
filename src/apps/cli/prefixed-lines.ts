/** An incomplete line of this length is displayed before it ends. */
const LONG_LINE_CHARS = 100;

/** Writes the output of one of several sources on a shared terminal: whole lines, each prefixed with the source's name. */
export class PrefixedLines {
  readonly #prefix: string;
  readonly #write: (text: string) => void;
  #line = "";

  constructor(prefix: string, write: (text: string) => void) {
    this.#prefix = prefix;
    this.#write = write;
  }

  write(text: string): void {
    const lines = `${this.#line}${text}`.split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#writeLine(line);
    while (this.#line.length > LONG_LINE_CHARS) {
      const space = this.#line.lastIndexOf(" ", LONG_LINE_CHARS);
      const end = space > 0 ? space : LONG_LINE_CHARS;
      this.#writeLine(this.#line.slice(0, end));
      this.#line = this.#line.slice(end).trimStart();
    }
  }

  #writeLine(line: string): void {
    this.#write(`${this.#prefix} ${line}\n`);
  }
}
