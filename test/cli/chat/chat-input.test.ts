import { expect, test } from "vitest";
import { findCommand } from "../../../src/apps/cli/chat/chat-commands.ts";
import { startSearch, stepSearch } from "../../../src/apps/cli/chat/history-search.ts";
import { findOpenMention } from "../../../src/apps/cli/chat/mentions.ts";
import { stepEndOfInput, stepInterrupt } from "../../../src/apps/cli/chat/step-interrupt.ts";
import { formatFileMention } from "../../../src/apps/cli/file-mentions.ts";
import { ChatCompletion } from "../../../src/apps/cli/tui/chat-completion.ts";

test("Ctrl-C clears what is typed, then stops the run; when nothing runs, the second one exits", () => {
  expect(stepInterrupt("calm", false, "running")).toEqual({ state: "calm", action: "clear" });
  expect(stepInterrupt("calm", true, "running")).toEqual({ state: "calm", action: "interrupt" });
  expect(stepInterrupt("calm", true, "stopping")).toEqual({ state: "calm", action: "interrupt" });
  expect(stepInterrupt("calm", false, "idle")).toEqual({ state: "calm", action: "clear" });
  expect(stepInterrupt("calm", true, "idle")).toEqual({ state: "armed", action: "warn" });
  expect(stepInterrupt("armed", true, "idle").action).toBe("leave");
  expect(stepInterrupt("armed", false, "idle").action).toBe("clear");
  expect([stepEndOfInput(true), stepEndOfInput(false)]).toEqual(["leave", "none"]);
});

test.each([
  ["@src/ma", "@src/ma", "src/ma"],
  ["read @", "@", ""],
  ['see @"my fi', '@"my fi', "my fi"],
])("a mention is being typed at the end of %j", (before, typed, path) => {
  expect(findOpenMention(before)).toEqual({ typed, path });
});

test.each(["ada@example.org", "no mention", "@done then", '@"my file" then', ""])(
  "no mention is being typed at the end of %j",
  (before) => {
    expect(findOpenMention(before)).toBeUndefined();
  },
);

const completion = new ChatCompletion(async () => ["src/main.ts", "docs/a plan.md", "docs/main.md"]);
const signal = new AbortController().signal;
const suggest = async (line: string) =>
  (await completion.getSuggestions([line], 0, line.length, { signal }))?.items.map(({ value }) => value);

test("commands are completed at the beginning of a message, by each of their names", async () => {
  expect(await suggest("/st")).toEqual(["/status", "/steer", "/stop"]);
  expect(await suggest("/qu")).toEqual(["/quit"]);
  expect(await suggest("say /st")).toBeUndefined();
  expect(findCommand("/quit")).toBe("/exit");
});

test("files are completed after an @, the best match first, and a name with blanks is quoted", async () => {
  expect(await suggest("look at @main")).toEqual(["@src/main.ts", "@docs/main.md"]);
  expect(await suggest('@"a pl')).toEqual(['@"docs/a plan.md"']);
  expect(await suggest("@nothing-like-it")).toBeUndefined();
  const item = { value: formatFileMention("docs/a plan.md"), label: "" };
  expect(completion.applyCompletion(["see @pla now"], 0, 8, item, "@pla")).toEqual({
    lines: ['see @"docs/a plan.md" now'],
    cursorLine: 0,
    cursorCol: 21,
  });
});

test("the search finds the newest message that has all words, then older ones", () => {
  const history = ["fix the test", "write docs", "fix the docs", "fix the test"];
  let search = startSearch(history);
  for (const text of ["f", "i", "x"]) search = stepSearch(search, { type: "text", text }, history);
  expect(search.found).toEqual(["fix the test", "fix the docs"]);
  expect(stepSearch(search, { type: "older" }, history).selected).toBe(1);
  const narrowed = stepSearch(search, { type: "text", text: " DOCS" }, history);
  expect(narrowed.found).toEqual(["fix the docs"]);
  expect(stepSearch(narrowed, { type: "older" }, history).selected).toBe(0);
  expect(stepSearch(narrowed, { type: "erase" }, history).query).toBe("fix DOC");
});
