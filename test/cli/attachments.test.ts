import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { buildPrompt } from "../../src/apps/cli/attachments.ts";
import { Context } from "../../src/apps/cli/context.ts";
import {
  escapeFileMentions,
  formatFileMention,
  parsePastedPath,
  readFileMentions,
} from "../../src/apps/cli/file-mentions.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-attach-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ["a.png", "my plan.pdf", "notes.md", "end."]) writeFileSync(join(folder, name), "x");
const at = (name: string) => join(folder, name);

test.each([
  ["Look at @a.png and @notes.md", ["a.png", "notes.md"]],
  ["@a.png, @notes.md.", ["a.png", "notes.md"]],
  ["the file (@a.png)", []],
  ["(see @a.png)", ["a.png"]],
  [`@"my plan.pdf" or @'my plan.pdf'`, ["my plan.pdf"]],
  ["@end.", ["end."]],
  ["@types/node, mail@a.png, `@a.png`, @missing.png, @.", []],
])("a text names files: %s", (text, names) => {
  expect(readFileMentions(text, folder)).toEqual({ text, files: names.map(at) });
});

test("a backslash keeps a file from being attached, and is kept where no file is named", () => {
  const typed = 'Send \\@a.png, @notes.md and \\@"my plan.pdf", not \\@missing.png.';
  const { text, files } = readFileMentions(typed, folder);
  expect(text).toBe('Send @a.png, @notes.md and @"my plan.pdf", not \\@missing.png.');
  expect(files).toEqual([at("notes.md")]);
});

test("an escaped text attaches nothing, and is read as it was", () => {
  for (const text of ['@a.png and @"my plan.pdf"\n@notes.md. @missing', "no file @ all", ""]) {
    expect(readFileMentions(escapeFileMentions(text, folder), folder)).toEqual({ text, files: [] });
  }
});

test.each(["a.png", "my plan.pdf", "Ada's.md", 'a "b".md'])("the mention of %s names it", (name) => {
  writeFileSync(join(folder, name), "x");
  expect(readFileMentions(`see ${formatFileMention(name)} now`, folder).files).toEqual([at(name)]);
});

test("a pasted path is one path and nothing else, however the terminal writes it", () => {
  const plan = at("my plan.pdf");
  for (const pasted of [
    `"${plan}"`,
    `'${plan}' `,
    plan.replace(" ", "\\ "),
    pathToFileURL(plan).href,
    plan,
  ]) {
    expect(parsePastedPath(pasted), pasted).toBe(plan);
  }
  for (const text of [
    "",
    "a.png",
    `look at ${at("a.png")}`,
    at("missing.png"),
    folder,
    "file://%zz",
    `${plan}\n${plan}`,
  ]) {
    expect(parsePastedPath(text), text).toBeUndefined();
  }
});

function contextWith(isTTY: boolean, json = false): { context: Context; reported: () => string } {
  const stderr = new PassThrough();
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const streams = { stdin, stdout: new PassThrough(), stderr, env: {}, signals: process };
  return {
    context: new Context(streams, { json }),
    reported: () => String(stderr.read() ?? ""),
  };
}

test("text attaches files only if a user typed it at a terminal, and each is reported", () => {
  const text = `see @${at("a.png")}`;
  const typed = contextWith(true);
  expect(buildPrompt(typed.context, text, {})).toEqual([
    { type: "text", text },
    { type: "file", path: at("a.png") },
  ]);
  expect(typed.reported()).toBe(`attached ${at("a.png")}\n`);
  expect(buildPrompt(contextWith(true).context, text, {}, false)).toBe(text);
  expect(buildPrompt(contextWith(true, true).context, text, {})).toBe(text);
  expect(buildPrompt(contextWith(false).context, text, {})).toBe(text);
});

test("--attach attaches files in order, once each, also without a text", () => {
  const attach = [at("notes.md"), at("a.png"), at("notes.md")];
  const { context } = contextWith(false);
  const files = [at("notes.md"), at("a.png")].map((path) => ({ type: "file", path }));
  expect(buildPrompt(context, "Read", { attach })).toEqual([{ type: "text", text: "Read" }, ...files]);
  expect(buildPrompt(context, " ", { attach })).toEqual(files);
});
