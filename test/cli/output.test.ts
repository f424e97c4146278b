import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { printJson, printJsonLine, sanitizeForTerminal } from "../../src/apps/cli/output.ts";
import { createPalette } from "../../src/apps/cli/palette.ts";
import { anyCodePoint } from "../support/any-code-point.ts";
import { runHoldfast } from "./terminal.ts";

const FOLDER = join(import.meta.dirname, "../../src/apps/cli");

/** Characters that a terminal acts on, and those that display letters in another order than they are read. */
const STEERS = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function printed(write: (stream: PassThrough) => void): string {
  const stream = new PassThrough();
  write(stream);
  return stream.read()?.toString() ?? "";
}

test("no file of the command line writes to a standard stream except the one that cleans its output", () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  expect(files.length).toBeGreaterThan(60);
  const around = files
    .filter((file) => file !== "output.ts")
    .flatMap((file) =>
      readFileSync(join(FOLDER, file), "utf8")
        .split("\n")
        .filter((line) =>
          /std(?:out|err)\)?\??\.(?:write|end)\b|\bconsole\.|\bshown\.write\b|clearLine|cursorTo/.test(line),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(around).toEqual([]);
});

test("a standard stream is passed only to the functions of the output, a terminal's input and the colour check", () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const known =
    /^(?:print|printJson|printJsonLine|printCsvLine|flush|printFrame|createPalette|isColoured|detectImageProtocol|createEcho|eraseRows|InputScreen|guardOutput|constructor|main|once)$/;
  const handed = files
    .filter((file) => file !== "output.ts")
    .flatMap((file) =>
      [
        ...readFileSync(join(FOLDER, file), "utf8").matchAll(
          /(\w+)\(\s*(?:[^()]*[\s,.])?#?std(?:out|err)\b(?!\.columns|!)/g,
        ),
      ]
        .map(([, name = ""]) => name)
        .filter((name) => !known.test(name))
        .map((name) => `${file}: ${name}`),
    );
  expect(handed).toEqual([]);
});

test("our own colours pass, those in external text do not", () => {
  const paint = createPalette({ isTTY: true }, {});
  expect(sanitizeForTerminal(paint.red("a\u001b[31mb"))).toBe("\u001b[31mab\u001b[39m");
  expect(sanitizeForTerminal(`${paint.bold("x")} \u001b[1my`)).toBe("\u001b[1mx\u001b[22m y");
});

test("characters that change the writing direction, and C1 controls, are displayed as their numbers", () => {
  expect(sanitizeForTerminal("gnp.\u202eexe \u2066a\u2069 \u009b2J\u0085")).toBe(
    "gnp.\\u202eexe \\u2066a\\u2069 \\u009b2J\\u0085",
  );
});

test("property: no printed text controls the terminal, and JSON keeps its meaning", () => {
  const letter = fc.oneof(
    fc.string({ unit: anyCodePoint, maxLength: 3 }),
    fc.constantFrom("\u001b[2J", "\u009b", "\u202e", "\r", "\u001b]0;x\u0007", "\uFDD0"),
  );
  fc.assert(
    fc.property(
      fc.array(letter).map((parts) => parts.join("")),
      (text) => {
        expect(sanitizeForTerminal(text)).not.toMatch(STEERS);
        const json = printed((stream) => printJson(stream, { text }));
        expect(json.slice(0, -1)).not.toMatch(STEERS);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ text })));
      },
    ),
  );
});

test("a line of an export is cleaned for a terminal and unchanged for a file", () => {
  const line = '{"text":"\u009b2J \u202e"}\n';
  const [file, screen] = [false, true].map((isTTY) =>
    printed((stream) => printJsonLine(Object.assign(stream, { isTTY }), line)),
  );
  expect(file).toBe(line);
  expect(screen).toBe('{"text":"\\u009b2J \\u202e"}\n');
});

test("an error that quotes external text does not control the terminal, nor does the help for a wrong command", async () => {
  const words = "no\u001b[2J\u009b\u202ewhere";
  for (const args of [["config", "show", `${words}.toml`], [words]]) {
    const { err, out } = await runHoldfast(args);
    expect(`${out}${err}`.replaceAll("\n", "")).not.toMatch(STEERS);
    expect(err).toContain("no\\u009b\\u202ewhere");
  }
});
