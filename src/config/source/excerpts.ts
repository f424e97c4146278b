import type { Problem } from "../problem.ts";
import type { Span } from "./source-node.ts";

/** Formats lines of a file for problems. */
export class Excerpts {
  readonly #file: string;
  readonly #text: string;
  readonly #hidden: Span[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /** Hides a secret that the file itself contains. */
  hide(span: Span, value: unknown): void {
    if (typeof value !== "string" || !/^\$\{\w+\}$/.test(value)) this.#hidden.push(span);
  }

  locate({ start, end }: Span): Pick<Problem, "file" | "line" | "column" | "endColumn" | "excerpt"> {
    const from = Math.min(start, this.#text.length);
    const lineStart = from === 0 ? 0 : this.#text.lastIndexOf("\n", from - 1) + 1;
    const next = this.#text.indexOf("\n", from);
    const lineEnd = next < 0 ? this.#text.length : next;
    const column = from - lineStart + 1;
    return {
      file: this.#file,
      line: this.#text.slice(0, lineStart).split("\n").length,
      column,
      endColumn: Math.max(column + 1, Math.min(end, lineEnd) - lineStart + 1),
      excerpt: this.#formatLine(lineStart, lineEnd),
    };
  }

  #formatLine(lineStart: number, lineEnd: number): string {
    let line = this.#text.slice(lineStart, lineEnd).replace(/\r$/, "");
    for (const { start, end } of this.#hidden) {
      const [from, to] = [Math.max(start - lineStart, 0), Math.min(end - lineStart, line.length)];
      if (from < to) line = line.slice(0, from) + "*".repeat(to - from) + line.slice(to);
    }
    return maskKeys(line);
  }
}

/** Masks text that looks like a key, in files that do not parse or contain a key in the wrong place. */
function maskKeys(line: string): string {
  const masked = /(key|token|secret|password|authorization)\w*["']?\s*[=:]/i.exec(line);
  if (masked === null) return line;
  const at = masked.index + masked[0].length;
  return (
    line.slice(0, at) + line.slice(at).replace(/(?<![${\w])[\w+/=-]{12,}/g, (word) => "*".repeat(word.length))
  );
}
