import { createInterface, type Interface } from "node:readline";
import type { Writable } from "node:stream";
import type { Input, Output } from "./context.ts";
import { createEcho, eraseRows, print, sanitizeForTerminal } from "./output.ts";

// Invariants
//   I1. Output never breaks up a line that is being typed: output appears above it, in whole lines.
//   I2. While nothing is being typed, output appears immediately.
//   I3. When a question interrupts a line that is being typed, the line is restored after the answer.

const PROMPT = "> ";
const DEFAULT_COLUMNS = 80;

export type ScreenListeners = {
  readonly onLine: (text: string) => void;
  readonly onInterrupt: () => void;
  readonly onEnd: () => void;
};

/** A terminal with concurrent input and output. Without a terminal, it reads lines and writes text. */
export class InputScreen {
  readonly #stdout: Output;
  readonly #terminal: boolean;
  readonly #lines: Interface;
  /** Whether the prompt and the typed line are on the screen. */
  #isPromptVisible = false;
  /** Whether output ended in the middle of a line. */
  #isMidLine = false;
  /** The beginning of an output line whose end has not arrived. */
  #bufferedOutput = "";
  #isBusy = false;
  #prompt = PROMPT;
  #isClosed = false;
  /** The line that was being typed when a question opened; absent while no question is open. */
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

  /** Displays the prompt when nothing runs. While something runs, the prompt appears with the first key. */
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

  /** Replaces the line that is being typed with a question; a new question replaces the old one. */
  ask(prompt: string, typed = ""): void {
    this.#savedInput ??= this.#lines.line;
    this.#replaceLine(prompt, typed);
  }

  /** Restores the line that was being typed before the question. */
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

  /** Creates the stream for readline's output, which passes only while the line is on the screen. */
  #createEcho(): Writable {
    const echo = createEcho(this.#stdout, () => this.#isPromptVisible);
    Object.defineProperty(echo, "columns", { get: () => this.#columns });
    return echo;
  }

  /** The terminal's width; some terminals report 0 columns. */
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
    // Moves to the end of the line, then deletes everything before the cursor.
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
