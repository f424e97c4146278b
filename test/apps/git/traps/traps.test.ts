import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createGitTools, toVisibleJson } from "../../../../src/apps/git/index.ts";
import { type ExecutableTool, ToolError } from "../../../../src/tools/tool.ts";
import { isThorough, thoroughTest } from "../../../support/test-depth.ts";
import { createContext } from "../../../tools/tool-context.ts";
import { BORDER_TRAPS } from "./border-traps.ts";
import { PROGRAM_TRAPS } from "./program-traps.ts";
import { TEXT_TRAPS } from "./text-traps.ts";
import { SECRET, type Trap, TrapPlace } from "./trap.ts";

const TRAPS = [...PROGRAM_TRAPS, ...BORDER_TRAPS, ...TEXT_TRAPS];

/** What an agent asks about any repository. */
const ORDINARY_CALLS: NonNullable<Trap["calls"]> = [
  ["git_status", {}],
  ["git_diff", { detail: "standard" }],
  ["git_diff", { from: "unstaged", detail: "standard" }],
  ["git_diff", { from: "HEAD~1", to: "HEAD", detail: "standard" }],
  ["git_log", { count: 20 }],
  ["git_show", { commit: "HEAD" }],
  ["git_changed_files", { from: "HEAD~1" }],
  ["git_blame", { file: "f.txt", start_line: 1, end_line: 5 }],
  ["file_read", { path: "f.txt" }],
  ["file_read", { path: "f.txt", commit: "HEAD" }],
  ["code_search", { query: "t" }],
  ["repo_map", { max_tokens: 500 }],
  ["static_analysis", {}],
  ["project_docs", { doc_type: "all" }],
  ["git_repo_info", {}],
];

/** Everything that acts on a terminal, or shows a text in another order. Line feeds and tabs do not. */
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not come through
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/;

/** The longest answer, with its last line. */
const MAX_CHARS = 61_000;

test("there are at least thirty traps, each with a name of its own", () => {
  expect(TRAPS.length).toBeGreaterThanOrEqual(30);
  expect(new Set(TRAPS.map(({ name }) => name)).size).toBe(TRAPS.length);
});

/** `npm test` sets each fourteenth trap. */
const declare = (at: number) => (at % 14 === 0 ? test : thoroughTest);

describe("a hostile repository", () => {
  for (const [at, trap] of TRAPS.entries()) {
    declare(at)(trap.name, async () => {
      const place = new TrapPlace();
      const before = { ...process.env };
      onTestFinished(() => {
        place.remove();
        for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
        Object.assign(process.env, before);
      });
      trap.set(place);
      if (trap.fire !== undefined) expect(place.fire(trap.fire), "the trap works").toBe(true);
      rmSync(place.canary, { force: true });
      const files = listFiles(place.folder);
      const texts: string[] = [];
      // The map runs no other command of git than the diffs do.
      const isMapped = isThorough || !PROGRAM_TRAPS.includes(trap);
      const ordinary = ORDINARY_CALLS.filter(([name]) => isMapped || name !== "repo_map");
      for (const [name, parameters] of [...ordinary, ...(trap.calls ?? [])]) {
        texts.push(await call(place, name, parameters));
      }
      const text = texts.join("\n");
      expect(existsSync(place.canary), "something ran").toBe(false);
      expect(listFiles(place.folder)).toEqual(files);
      expect(text).not.toContain(SECRET);
      trap.check?.(text, place);
    });
  }
});

/** Calls a tool, and returns all that it answers: a text, and data as a program would print it. */
async function call(place: TrapPlace, name: string, parameters: object): Promise<string> {
  const { core, main } = createGitTools({ home: place.folder });
  const tool = [...core, ...main].find((one) => one.name === name) as ExecutableTool;
  const filled = JSON.parse(JSON.stringify(parameters).replaceAll("CANARY", place.canary)) as object;
  const parsed = tool.parse(filled);
  if (!parsed.ok) return "";
  const answer = await tool.execute(parsed.value, createContext(place.top)).catch((error: unknown) => {
    if (error instanceof ToolError) return error.message;
    throw error;
  });
  const text =
    typeof answer === "string"
      ? answer
      : answer.content.map((part) => ("text" in part ? part.text : "")).join("");
  expect(text.length).toBeLessThan(MAX_CHARS);
  expect(text, name).not.toMatch(HARMFUL);
  const details = typeof answer === "string" ? "" : toVisibleJson(answer.details);
  expect(details, name).not.toMatch(HARMFUL);
  return `${text}\n${details}`;
}

/** Lists all files with their sizes and times: no tool writes. */
function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const { size, mtimeMs } = lstatSync(path);
    return [`${path} ${size} ${mtimeMs}`, ...(entry.isDirectory() ? listFiles(path) : [])];
  });
}
