import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Review } from "../../../src/apps/git/artifacts/review.ts";
import { checkMarkdown } from "../../../src/apps/git/evidence/check-markdown.ts";
import { findReferenceProblem } from "../../../src/apps/git/evidence/check-reference.ts";
import { checkReview } from "../../../src/apps/git/evidence/check-review.ts";
import type { EvidenceReader } from "../../../src/apps/git/evidence/evidence-reader.ts";
import { formatReference, listReferences, parseReference } from "../../../src/apps/git/evidence/reference.ts";

const SOURCE = "export function parse(text) {\n  return parser.readAll(text);\n}\n\n// parseAll is gone\n";
const AUTHOR = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

let folder: string;
let first: string;
let second: string;
let reads = 0;

const git = (...words: string[]) =>
  execFileSync("git", ["-C", folder, ...words], {
    encoding: "utf8",
    env: { ...process.env, ...AUTHOR },
  }).trim();

/** A reader over `git cat-file`. */
const reader: EvidenceReader = {
  readFile: async (commit, path) => {
    reads += 1;
    const options = { encoding: "utf8" as const };
    const found = spawnSync(
      "git",
      ["-C", folder, "rev-parse", "--verify", "--end-of-options", `${commit}^{commit}`],
      options,
    );
    if (found.status !== 0) return { type: "unreadable", reason: "the repository has no such commit" };
    const file = spawnSync(
      "git",
      ["-C", folder, "cat-file", "blob", `${found.stdout.trim()}:${path}`],
      options,
    );
    if (file.status !== 0) return { type: "unreadable", reason: "the commit has no such file" };
    return { type: "text", lines: file.stdout.replace(/\n$/, "").split("\n") };
  },
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-evidence-"));
  git("init", "--quiet");
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/a: b.ts"), SOURCE);
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  first = git("rev-parse", "HEAD");
  writeFileSync(join(folder, "src/new.ts"), "const x = 1;\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "two");
  second = git("rev-parse", "--short", "HEAD");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a reference", () => {
  test("is a commit, a path that may contain colons, lines, and a symbol or none", () => {
    expect(parseReference("1a2b3c4:src/a: b.ts:10-12#Lexer.next")).toEqual({
      ok: true,
      reference: { commit: "1a2b3c4", path: "src/a: b.ts", from: 10, to: 12, symbol: "Lexer.next" },
    });
    expect(parseReference("HEAD:a.ts:L7")).toMatchObject({ reference: { from: 7, to: 7 } });
  });

  test.each([
    ["--output=x:a.ts:1", "names no commit"],
    ["HEAD:/etc/passwd:1", "names no path within"],
    ["HEAD:a/../../b:1", "names no path within"],
    ["HEAD:a.ts:0", "line 0"],
    ["HEAD:a.ts:9-3", "wrong order"],
    ["a.ts:3", "is not commit:path:lines"],
    ["", "is not commit:path:lines"],
  ])("%s is refused", (text, reason) => {
    expect(parseReference(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });

  test("that was formatted is parsed to the same, and no text throws", () => {
    const step = fc.stringMatching(/^[\w: .-]*\w$/);
    fc.assert(
      fc.property(
        step,
        fc.integer({ min: 1, max: 1e6 }),
        fc.nat(1e6),
        fc.option(fc.stringMatching(/^\w+$/)),
        (path, from, more, symbol) => {
          const reference = {
            commit: "abc1234",
            path,
            from,
            to: from + more,
            ...(symbol === null ? {} : { symbol }),
          };
          fc.pre(!/:L?\d+(?:-L?\d+)?$/.test(path));
          expect(parseReference(formatReference(reference))).toEqual({ ok: true, reference });
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (text) => typeof parseReference(text).ok === "boolean"));
  });

  test("is found within prose, with or without backticks", () => {
    const text =
      "Fixed (1a2b3c4:src/a.ts:1-2#parse). See `1a2b3c4:src/a b.ts:3`, not 12:30:15 or https://a.b:80/c:1.";
    expect(listReferences(text)).toEqual(["1a2b3c4:src/a.ts:1-2#parse", "1a2b3c4:src/a b.ts:3"]);
  });
});

describe("against a repository, a reference", () => {
  test("holds if the lines exist at the commit and the symbol is in them", async () => {
    for (const reference of [
      `${first}:src/a: b.ts:1`,
      `${first}:src/a: b.ts:1-3#parse`,
      `${first}:src/a: b.ts:2#Parser.readAll()`,
      `${second}:src/new.ts:1#x`,
      "HEAD:src/new.ts:1",
    ])
      expect(await findReferenceProblem(reference, reader)).toBeUndefined();
  });

  test("fails with the reason otherwise", async () => {
    for (const [reference, reason] of [
      [`${first}:src/new.ts:1`, "the commit has no such file"],
      ["deadbeef:src/new.ts:1", "the repository has no such commit"],
      [`${first}:src/a: b.ts:5-6`, "the file ends at line 5"],
      [`${first}:src/a: b.ts:4`, "the lines are blank"],
      [`${first}:src/a: b.ts:2#parse`, "the lines do not contain parse"],
      [`${first}:src/a: b.ts:5#parse`, "the lines do not contain parse"],
      [`${first}:src:1`, "the commit has no such file"],
    ] as const)
      expect(await findReferenceProblem(reference, reader)).toContain(reason);
  });
});

test("findings whose evidence fails are dropped and counted, with the reasons; each file is read once", async () => {
  const finding = (id: string, ...evidence: string[]) => ({
    id,
    severity: "high",
    confidence: 90,
    file: "src/new.ts",
    start_line: 1,
    end_line: 1,
    category: "correctness",
    body: "b",
    evidence,
  });
  const good = `${second}:src/new.ts:1#x`;
  const review = Review.parse({
    summary: "s",
    findings: [
      finding("F1", good),
      finding("F2", good, `${second}:src/new.ts:2`),
      finding("F3"),
      finding("F4", good),
    ],
  });
  reads = 0;
  const checked = await checkReview(review, reader);
  expect(checked.review.findings.map(({ id }) => id)).toEqual(["F1", "F4"]);
  expect(checked.findings.references).toBe(4);
  expect(checked.findings.dropped.map(({ claim, problems }) => [claim.id, ...problems])).toEqual([
    ["F2", `${second}:src/new.ts:2: the file ends at line 1.`],
    ["F3", "It has no evidence."],
  ]);
  expect(reads).toBe(1);
});

test("claims of a text whose evidence fails are dropped with all of their lines; the rest stays as it was", async () => {
  const fail = `${second}:src/new.ts:9`;
  const content = [
    "## Added",
    "",
    `- A constant (${second}:src/new.ts:1#x).`,
    `- A class (${fail})`,
    "  that does not exist.",
    "- Nothing to cite.",
    "",
    "```",
    "- code",
    "",
    "stays",
    "```",
  ];
  const { content: kept, claims } = await checkMarkdown(content.join("\n"), reader);
  expect(kept).toBe(content.filter((_, index) => index !== 3 && index !== 4).join("\n"));
  expect(claims.dropped.map(({ problems }) => problems)).toEqual([[`${fail}: the file ends at line 1.`]]);
  const untouched = "a\n\n\n- b\n\n  c\n";
  expect((await checkMarkdown(untouched, reader)).content).toBe(untouched);
});
