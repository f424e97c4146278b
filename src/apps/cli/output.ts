import { clearLine, cursorTo } from "node:readline";
import { Writable } from "node:stream";
import type { Output } from "./context.ts";
import { MARKED_COLOUR, stripControls } from "./palette.ts";

// Everything that the command line prints goes through this file, and no other file writes to a standard stream. Names of
// tools that a model has invented, error messages of vendors, answers, titles, paths: a text from elsewhere must not move
// the cursor, change colours, or show letters in another order than they are read. Our own colours are marked with a word
// that nobody else knows, and are the only control sequences that are let through.

/** What is shown of a text: our own colours, and of everything else what is printable. */
export function sanitizeForTerminal(text: string): string {
  return text
    .split(MARKED_COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : stripControls(part)))
    .join("");
}

/** @returns Whether the stream takes more at once. */
export function print(stream: Writable, text: string): boolean {
  return stream.write(sanitizeForTerminal(text));
}

/** One value a line, the same for a program that reads it: what a terminal would act on is escaped as JSON does. */
export function printJson(stream: Writable, value: unknown): boolean {
  return stream.write(`${escapeJsonForTerminal(JSON.stringify(value))}\n`);
}

/** A line of JSON that must stay as it is, byte for byte, unless a terminal would act on it. */
export function printJsonLine(stream: Output, line: string): boolean {
  return stream.write(stream.isTTY === true ? escapeJsonForTerminal(line) : line);
}

/** C1 controls and DEL, separators of lines, and what changes the direction of writing; JSON leaves them as they are. */
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escapeJsonForTerminal(json: string): string {
  return json.replace(UNESCAPED, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Calls back when everything before has been handed to the system. */
export function flush(stream: Writable, done: () => void): void {
  stream.write("", done);
}

/** Takes lines off the screen, of which the cursor is in the last one. */
export function eraseRows(stream: Output, rows: number): void {
  for (let row = 0; row < rows; row += 1) {
    clearLine(stream, 0);
    stream.write("\u001b[1A");
  }
  clearLine(stream, 0);
  cursorTo(stream, 0);
}

/** What readline draws of the line that a person types, while that is on the screen. */
export function createEcho(stream: Output, isShown: () => boolean): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      if (isShown()) stream.write(chunk);
      done();
    },
  });
}
