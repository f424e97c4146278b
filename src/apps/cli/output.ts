import { clearLine, cursorTo } from "node:readline";
import { Writable } from "node:stream";
import type { Output } from "./context.ts";
import { MARKED_SEQUENCE, stripControls } from "./palette.ts";

// All output of the command line goes through this file, and no other file writes to a standard stream. Text from outside,
// such as tool names that a model invented, error messages of vendors, answers, titles and paths, must not move the cursor,
// change colours or reorder letters. The program's own colours and images have a secret random mark, and are the only
// control sequences that pass.

/** Returns the text with the program's own colours and images, and otherwise only printable characters. */
export function sanitizeForTerminal(text: string): string {
  return text
    .split(MARKED_SEQUENCE)
    .map((part, index) => (index % 2 === 1 ? part : stripControls(part)))
    .join("");
}

/** @returns Whether the stream can take more output immediately. */
export function print(stream: Writable, text: string): boolean {
  return stream.write(sanitizeForTerminal(text));
}

/** Prints a part of the chat's screen: control sequences of the terminal library, and lines that `line-guard.ts` made safe. */
export function printFrame(stream: Writable, frame: string): void {
  stream.write(frame);
}

/** Prints one value a line. Characters that a terminal acts on are JSON escapes, which parse to the same value. */
export function printJson(stream: Writable, value: unknown): boolean {
  return stream.write(`${escapeJsonForTerminal(JSON.stringify(value))}\n`);
}

/** Prints a line of JSON byte for byte; only at a terminal, escapes the characters that the terminal acts on. */
export function printJsonLine(stream: Output, line: string): boolean {
  return stream.write(stream.isTTY === true ? escapeJsonForTerminal(line) : line);
}

/** Prints a line of CSV byte for byte; only at a terminal, removes the characters that the terminal acts on. */
export function printCsvLine(stream: Output, line: string): boolean {
  return stream.isTTY === true ? print(stream, line) : stream.write(line);
}

/** Characters that JSON does not escape: C1 controls, DEL, line separators and controls of the writing direction. */
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escapeJsonForTerminal(json: string): string {
  return json.replace(UNESCAPED, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Calls `done` when all earlier output has been passed to the system. */
export function flush(stream: Writable, done: () => void): void {
  stream.write("", done);
}

/** Erases the cursor's line and the `rows` lines above it. */
export function eraseRows(stream: Output, rows: number): void {
  for (let row = 0; row < rows; row += 1) {
    clearLine(stream, 0);
    stream.write("\u001b[1A");
  }
  clearLine(stream, 0);
  cursorTo(stream, 0);
}

/** Creates the stream to which readline writes the typed line; the text passes only while the line is visible. */
export function createEcho(stream: Output, isShown: () => boolean): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      if (isShown()) stream.write(chunk);
      done();
    },
  });
}
