import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { formatProblem } from "../../src/config/problem.ts";
import { readCheckedFile } from "../../src/config/read-checked-file.ts";

const SCHEMA = z.strictObject({
  name: z.string().min(1),
  size: z.int().max(10).default(3),
  kind: z.enum(["small", "large"]).optional(),
  parts: z.array(z.strictObject({ title: z.string() })).default([]),
});

const folder = mkdtempSync(join(tmpdir(), "holdfast-checked-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(name: string, text: string) {
  writeFileSync(join(folder, name), text);
  const result = readCheckedFile(name, { schema: SCHEMA, cwd: folder });
  return result.ok ? result.value : result.problems.map(formatProblem);
}

test("a file of each format is read, with the schema's defaults", () => {
  const value = { name: "a", size: 3, parts: [{ title: "b" }] };
  expect(read("a.toml", 'name = "a"\n[[parts]]\ntitle = "b"\n')).toEqual(value);
  expect(read("a.yaml", "name: a\nparts:\n  - title: b\n")).toEqual(value);
  expect(read("a.json", '{"name": "a", "parts": [{"title": "b"}]}')).toEqual(value);
});

test("each problem has its line, its field and what to do, in the order of the file", () => {
  expect(read("bad.toml", 'naem = "a"\nsize = 11\nkind = "medium"\n[[parts]]\ntitel = "b"\n')).toEqual([
    expect.stringMatching(/^bad\.toml:1:1: error: name: is missing/),
    'bad.toml:1:1: error: naem: unknown key; did you mean "name"?',
    "bad.toml:2:8: error: size: must be at most 10, not 11",
    'bad.toml:3:8: error: kind: must be "small" or "large", not a text',
    expect.stringMatching(/^bad\.toml:4:3: error: parts\[0\]\.title: is missing/),
    'bad.toml:5:1: error: parts[0].titel: unknown key; did you mean "title"?',
  ]);
});

test("a reference to a variable is plain text", () => {
  expect(read("text.toml", 'name = "${HOME} and $${HOME}"\n')).toMatchObject({
    name: "${HOME} and $${HOME}",
  });
});

test("a file that is missing, broken or no table is a problem, not an exception", () => {
  expect(readCheckedFile("none.toml", { schema: SCHEMA, cwd: folder })).toMatchObject({
    ok: false,
    problems: [{ kind: "io", message: "it cannot be read: there is no such file" }],
  });
  expect(read("broken.toml", "name = \n")).toEqual([
    "broken.toml:2:1: error: This is not TOML: Unspecified values are invalid",
  ]);
  expect(read("list.json", "[1]")).toEqual([expect.stringContaining("must be a table of sections")]);
});
