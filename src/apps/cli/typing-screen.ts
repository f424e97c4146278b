import { createInterface, type Interface } from "node:readline";
import type { Writable } from "node:stream";
import type { Input, Output } from "./context.ts";
import { echoOf, eraseRows, forTerminal, print } from "./output.ts";

// Invariants
//   I1. What is typed is never torn apart by output: while a line is being typed, output appears above it, whole
//       lines at a time.
//   I2. While nothing is typed, output appears as it comes.
//   I3. A line that was being typed when something was asked is given back when it is answered.

const PROMPT = "> ";
const USUAL_COLUMNS = 80;

export type ScreenListeners = {
  readonly onLine: (text: string) => void;
  readonly onInterrupt: () => void;
  readonly onEnd: () => void;
};

/** A terminal that is written to and typed on at the same time. Without a terminal: lines in, text out. */
export class TypingScreen {
  readonly #stdout: Output;
  readonly #terminal: boolean;
  readonly #lines: Interface;
  /** The prompt and the line under way are on the screen. */
  #shown = false;
  /** Output ended in the middle of a line. */
  #midLine = false;
  /** The beginning of a line of output that waits for its end. */
  #held = "";
  #busy = false;
  #prompt = PROMPT;
  #closed = false;
  /** The line that was being typed when something was asked; absent while nothing is. */
  #kept: string | undefined;

  constructor(stdin: Input, stdout: Output, listeners: ScreenListeners) {
    this.#stdout = stdout;
    this.#terminal = stdin.isTTY === true && stdout.isTTY === true;
    this.#lines = createInterface({
      input: stdin,
      output: this.#terminal ? this.#echo() : undefined,
      terminal: this.#terminal,
      prompt: PROMPT,
    });
    this.#lines.on("line", (text) => {
      this.#shown = false;
      this.#midLine = false;
      this.#release();
      listeners.onLine(text);
    });
    this.#lines.on("SIGINT", listeners.onInterrupt);
    this.#lines.on("close", () => {
      this.#closed = true;
      listeners.onEnd();
    });
    if (this.#terminal) stdin.on("keypress", this.#typed);
  }

  write(text: string): void {
    if (!this.#shown) {
      this.#put(text);
      return;
    }
    this.#held += text;
    const end = this.#held.lastIndexOf("\n") + 1;
    if (end === 0) return;
    this.#hideLine();
    this.#put(this.#held.slice(0, end));
    this.#held = this.#held.slice(end);
    this.#showLine();
  }

  /** Asks for the next line when nothing runs; while something does, the prompt appears with the first key. */
  ready(): void {
    this.#busy = false;
    if (!this.#terminal || this.#kept !== undefined) return;
    this.#release();
    this.#freshLine();
    this.#showLine();
  }

  busy(): void {
    this.#busy = true;
    if (!this.#shown || this.#lines.line !== "" || this.#kept !== undefined) return;
    this.#hideLine();
    this.#shown = false;
  }

  /** Puts a question in place of the line that is being typed. Asked again, the new one is in place of the old. */
  ask(prompt: string, typed = ""): void {
    this.#kept ??= this.#lines.line;
    this.#replaceLine(prompt, typed);
  }

  /** Gives the line back that was being typed. */
  asked(): void {
    if (this.#kept === undefined) return;
    const kept = this.#kept;
    this.#kept = undefined;
    this.#replaceLine(PROMPT, kept);
    if (this.#busy && !this.#closed) this.busy();
  }

  close(): void {
    this.#lines.removeAllListeners("close");
    this.#release();
    this.#freshLine();
    this.#lines.close();
  }

  readonly #typed = (): void => {
    if (this.#shown || !this.#busy || this.#lines.line === "") return;
    this.#freshLine();
    this.#showLine();
  };

  /** What readline draws, while the line is on the screen. */
  #echo(): Writable {
    const echo = echoOf(this.#stdout, () => this.#shown);
    Object.defineProperty(echo, "columns", { get: () => this.#columns });
    return echo;
  }

  /** Some terminals say that they have no columns at all. */
  get #columns(): number {
    return this.#stdout.columns || USUAL_COLUMNS;
  }

  #put(text: string): void {
    if (text === "") return;
    print(this.#stdout, text);
    this.#midLine = !text.endsWith("\n");
  }

  #release(): void {
    const held = this.#held;
    this.#held = "";
    if (held === "") return;
    if (this.#shown) this.#hideLine();
    this.#shown = false;
    this.#put(held);
  }

  #freshLine(): void {
    if (this.#midLine) this.#put("\n");
  }

  #replaceLine(prompt: string, typed: string): void {
    if (!this.#terminal || this.#closed) return;
    if (this.#shown) this.#hideLine();
    this.#shown = false;
    this.#release();
    this.#freshLine();
    this.#prompt = forTerminal(prompt);
    this.#lines.setPrompt(this.#prompt);
    // The end of the line, and all that stands before it.
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
    if (typed !== "") this.#lines.write(forTerminal(typed));
    this.#showLine();
  }

  #hideLine(): void {
    const rows = Math.floor((this.#prompt.length + this.#lines.line.length) / this.#columns);
    eraseRows(this.#stdout, rows);
  }

  #showLine(): void {
    this.#shown = true;
    this.#lines.prompt(true);
  }
}
