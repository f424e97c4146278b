import type { Context } from "../context.ts";
import { eraseRows, print } from "../output.ts";
import { stripControls } from "../palette.ts";
import { truncateToWidth } from "../table.ts";

/** Away from a terminal, the progress is printed this often: a log stays readable. */
const LOG_INTERVAL_MS = 30_000;

/** The usual width of a terminal that does not report one. */
const DEFAULT_WIDTH = 80;

/** A line on standard error that is updated in place at a terminal, and is printed now and then elsewhere. */
export class ProgressLine {
  readonly #context: Context;
  readonly #isTerminal: boolean;
  #shown = "";
  #printedAtMs: number | undefined;

  constructor(context: Context) {
    this.#context = context;
    this.#isTerminal = context.streams.stderr.isTTY === true;
    // A report must not continue the line.
    if (this.#isTerminal) context.redirectReports((line) => this.#interrupt(line));
  }

  /** @param isImportant - Prints it also if the last one was printed a moment ago. */
  show(line: string, nowMs: number, isImportant = false): void {
    const text = stripControls(line);
    if (this.#isTerminal) {
      this.#erase();
      this.#draw(text);
      return;
    }
    const isDue = this.#printedAtMs === undefined || nowMs - this.#printedAtMs >= LOG_INTERVAL_MS;
    if (text === this.#shown || !(isDue || isImportant)) return;
    this.#shown = text;
    this.#printedAtMs = nowMs;
    this.#context.report(text);
  }

  /** Erases the line. Call it on every path: until then, reports are drawn above the line. */
  end(): void {
    if (!this.#isTerminal) return;
    this.#erase();
    this.#context.redirectReports();
  }

  #draw(text: string): void {
    const { stderr } = this.#context.streams;
    // The last column stays free: some terminals break the line there.
    this.#shown = truncateToWidth(text.replace(/\s+/g, " "), (stderr.columns ?? DEFAULT_WIDTH) - 1);
    print(stderr, this.#context.err.dim(this.#shown));
  }

  #erase(): void {
    if (this.#shown !== "") eraseRows(this.#context.streams.stderr, 0);
    this.#shown = "";
  }

  #interrupt(line: string): void {
    const shown = this.#shown;
    this.#erase();
    print(this.#context.streams.stderr, `${line}\n`);
    if (shown !== "") this.#draw(shown);
  }
}
