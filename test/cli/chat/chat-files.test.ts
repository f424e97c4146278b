import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JsonLinesFile } from "../../../src/apps/cli/chat/json-lines-file.ts";
import { PromptHistory } from "../../../src/apps/cli/chat/prompt-history.ts";
import { RecentChats } from "../../../src/apps/cli/chat/recent-chats.ts";
import { WorkspaceFiles } from "../../../src/apps/cli/chat/workspace-files.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-chat-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

test("messages of several lines are there in the next chat, for their owner alone, without keys", async () => {
  const folder = join(home, "new");
  const history = PromptHistory.open(folder, {});
  history.add("first\n\tline");
  history.add("first\n\tline");
  history.add("my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789");
  expect(history.entries.at(-1)).toContain("sk-ant-api03");
  const later = PromptHistory.open(folder, {}).entries;
  expect(later).toHaveLength(2);
  expect(later[0]).toBe("first\n\tline");
  expect(later[1]).not.toContain("abcdefghijklmnop");
  const file = join(folder, "chat-history.jsonl");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  // Another version's lines and half a line are skipped.
  await appendFile(file, '{"other":1}\n{"text":"ha');
  expect(PromptHistory.open(folder, {}).entries).toEqual(later);
});

test.each([
  [{ HOLDFAST_REDACT_CONTENT: "on" }],
  [{ HOLDFAST_ENCRYPTION_KEYS: "a=env:KEY", KEY: Buffer.alloc(32, 7).toString("base64") }],
])("nothing is written where content must not be in plain text: %j", async (env) => {
  PromptHistory.open(home, {}).add("from before");
  const history = PromptHistory.open(home, env);
  expect(history.entries).toEqual([]);
  history.add("private");
  expect(history.entries).toEqual(["private"]);
  expect(await readFile(join(home, "chat-history.jsonl"), "utf8")).toBe('{"text":"from before"}\n');
});

test("a long file is shortened when it is read, and one that cannot be read or written is ignored", async () => {
  const path = join(home, "list.jsonl");
  await writeFile(path, Array.from({ length: 300 }, (_, index) => `${index}\n`).join(""));
  const toNumber = (value: unknown) => value as number;
  expect(new JsonLinesFile<number>(path).read(toNumber, 2)).toEqual([298, 299]);
  expect(await readFile(path, "utf8")).toBe("298\n299\n");
  await mkdir(join(home, "folder.jsonl"));
  const unusable = new JsonLinesFile<number>(join(home, "folder.jsonl"));
  unusable.append(1);
  expect(unusable.read(toNumber, 2)).toEqual([]);
});

test("the chats of a folder, the newest first, each once", () => {
  const chats = new RecentChats(home);
  for (const session of ["a", "b", "a", "a"]) chats.add({ session, folder: "/work" });
  chats.add({ session: "c", folder: "/other" });
  expect(new RecentChats(home).list("/work")).toEqual(["a", "b"]);
  expect(new RecentChats(home).list("/nowhere")).toEqual([]);
});

test("files of a workspace, without those that git ignores and names that steer a terminal", async () => {
  await promisify(execFile)("git", ["init", "-q", home]);
  await mkdir(join(home, "src"));
  await mkdir(join(home, "build"));
  const files = ["src/main.ts", ".env.example", "build/out.js", "bad\u001b[2Jname", ".gitignore"];
  for (const file of files) await writeFile(join(home, file), file === ".gitignore" ? "build\n" : "");
  expect(await new WorkspaceFiles(home).list()).toEqual([".env.example", ".gitignore", "src/main.ts"]);
  expect(await new WorkspaceFiles(join(home, "missing")).list()).toEqual([]);
});
