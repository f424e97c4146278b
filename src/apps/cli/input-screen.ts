import { createInterface, type Interface } from "node:readline";
import type { Writable } from "node:stream";
import type { Input, Output } from "./context.ts";
import { createEcho, eraseRows, print, sanitizeForTerminal } from "./output.ts";

// Invariants
//   I1. What is typed is never torn apart by output: while a line is being typed, output appears above it, whole
//       lines at a time.
//   I2. While nothing is typed, output appears as it comes.
//   I3. A line that was being typed when something was asked is given back when it is answered.

const PROMPT = "> ";
const DEFAULT_COLUMNS = 80;

export type ScreenListeners = {
  readonly onLine: (text: string) => void;
  readonly onInterrupt: () => void;
  readonly onEnd: () => void;
};

/** A terminal that is written to and typed on at the same time. Without a terminal: lines in, text out. */
export class InputScreen {
  readonly #stdout: Output;
  readonly #terminal: boolean;
  readonly #lines: Interface;
  /** The prompt and the line under way are on the screen. */
  #isPromptVisible = false;
  /** Output ended in the middle of a line. */
  #isMidLine = false;
  /** The beginning of a line of output that waits for its end. */
  #bufferedOutput = "";
  #isBusy = false;
  #prompt = PROMPT;
  #isClosed = false;
  /** The line that was being typed when something was asked; absent while nothing is. */
  #savedInput: string | undefined;

  constructor(stdin: Input, stdout: Output, listeners: ScreenListeners) {
    this.#stdout = stdout;
    this.#terminal = stdin.isTTY === true && stdout.isTTY === true;
    this.#lines = createInterface({
      input: stdin,
      output: this.#terminal ? this.#createEcho() : undefined,
      terminal: this.#terminal,
      prompt: PROMPT,
    });
    this.#lines.on("line", (text) => {
      this.#isPromptVisible = false;
      this.#isMidLine = false;
      this.#flushBuffer();
      listeners.onLine(text);
    });
    this.#lines.on("SIGINT", listeners.onInterrupt);
    this.#lines.on("close", () => {
      this.#isClosed = true;
      listeners.onEnd();
    });
    if (this.#terminal) stdin.on("keypress", this.#onKey);
  }

  write(text: string): void {
    if (!this.#isPromptVisible) {
      this.#writeOutput(text);
      return;
    }
    this.#bufferedOutput += text;
    const end = this.#bufferedOutput.lastIndexOf("\n") + 1;
    if (end === 0) return;
    this.#hideLine();
    this.#writeOutput(this.#bufferedOutput.slice(0, end));
    this.#bufferedOutput = this.#bufferedOutput.slice(end);
    this.#showLine();
  }

  /** Asks for the next line when nothing runs; while something does, the prompt appears with the first key. */
  setReady(): void {
    this.#isBusy = false;
    if (!this.#terminal || this.#savedInput !== undefined) return;
    this.#flushBuffer();
    this.#startNewLine();
    this.#showLine();
  }

  setBusy(): void {
    this.#isBusy = true;
    if (!this.#isPromptVisible || this.#lines.line !== "" || this.#savedInput !== undefined) return;
    this.#hideLine();
    this.#isPromptVisible = false;
  }

  /** Puts a question in place of the line that is being typed. Asked again, the new one is in place of the old. */
  ask(prompt: string, typed = ""): void {
    this.#savedInput ??= this.#lines.line;
    this.#replaceLine(prompt, typed);
  }

  /** Gives the line back that was being typed. */
  endQuestion(): void {
    if (this.#savedInput === undefined) return;
    const saved = this.#savedInput;
    this.#savedInput = undefined;
    this.#replaceLine(PROMPT, saved);
    if (this.#isBusy && !this.#isClosed) this.setBusy();
  }

  close(): void {
    this.#lines.removeAllListeners("close");
    this.#flushBuffer();
    this.#startNewLine();
    this.#lines.close();
  }

  readonly #onKey = (): void => {
    if (this.#isPromptVisible || !this.#isBusy || this.#lines.line === "") return;
    this.#startNewLine();
    this.#showLine();
  };

  /** What readline draws, while the line is on the screen. */
  #createEcho(): Writable {
    const echo = createEcho(this.#stdout, () => this.#isPromptVisible);
    Object.defineProperty(echo, "columns", { get: () => this.#columns });
    return echo;
  }

  /** Some terminals say that they have no columns at all. */
  get #columns(): number {
    return this.#stdout.columns || DEFAULT_COLUMNS;
  }

  #writeOutput(text: string): void {
    if (text === "") return;
    print(this.#stdout, text);
    this.#isMidLine = !text.endsWith("\n");
  }

  #flushBuffer(): void {
    const buffered = this.#bufferedOutput;
    this.#bufferedOutput = "";
    if (buffered === "") return;
    if (this.#isPromptVisible) this.#hideLine();
    this.#isPromptVisible = false;
    this.#writeOutput(buffered);
  }

  #startNewLine(): void {
    if (this.#isMidLine) this.#writeOutput("\n");
  }

  #replaceLine(prompt: string, typed: string): void {
    if (!this.#terminal || this.#isClosed) return;
    if (this.#isPromptVisible) this.#hideLine();
    this.#isPromptVisible = false;
    this.#flushBuffer();
    this.#startNewLine();
    this.#prompt = sanitizeForTerminal(prompt);
    this.#lines.setPrompt(this.#prompt);
    // The end of the line, and all that stands before it.
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
    if (typed !== "") this.#lines.write(sanitizeForTerminal(typed));
    this.#showLine();
  }

  #hideLine(): void {
    const rows = Math.floor((this.#prompt.length + this.#lines.line.length) / this.#columns);
    eraseRows(this.#stdout, rows);
  }

  #showLine(): void {
    this.#isPromptVisible = true;
    this.#lines.prompt(true);
  }
}
