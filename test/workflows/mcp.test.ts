import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { NASTY, official, stdio, temporaryFolder } from "../mcp/support/servers.ts";
import { openStage, type Stage } from "./support/temporal.ts";
import { keepWarnings } from "./support/warnings.ts";

const { log, warnings } = keepWarnings();
const folder = temporaryFolder();
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ log });
});
afterAll(async () => {
  await stage.close();
  folder.remove();
});

const call = (name: string, parameters: object = {}) => ({ toolCalls: [{ name, arguments: parameters }] });
const nasty = (args: readonly string[] = [], more: object = {}) =>
  stdio(NASTY, { args }, { name: "nasty", include: ["ok", "crash", "change", "goes"], ...more });

async function results(session: ReturnType<Stage["session"]>): Promise<{ text: string; isError: boolean }[]> {
  return (await session.entries()).flatMap(({ message }) =>
    message.role === "toolResult"
      ? [
          {
            text: message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
            isError: message.isError,
          },
        ]
      : [],
  );
}

describe("an agent with MCP servers", () => {
  test("[MCP-08] works with the tools of a real server beside its own", async () => {
    writeFileSync(join(folder.path, "note.txt"), "the words of the note");
    const files = stdio(official("filesystem"), { args: [folder.path] }, { name: "files", trusted: true });
    const path = join(folder.path, "note.txt");
    const session = stage.session({
      replies: [call("files__read_text_file", { path }), { text: "Done." }],
      agent: { tools: ["list_files"], mcp: [{ ...files, include: ["read_*"] }] },
    });
    expect(await session.run("Read it")).toMatchObject({ outcome: { type: "answered" } });
    expect(await results(session)).toEqual([{ text: "the words of the note", isError: false }]);
    const [first] = session.requests();
    const names = (first?.body as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names).toEqual([
      "list_files",
      "files__read_file",
      "files__read_text_file",
      "files__read_media_file",
      "files__read_multiple_files",
    ]);
  });

  test("[MCP-06] goes on when a server crashes, and when it offers other tools than before", async () => {
    const session = stage.session({
      replies: [
        call("nasty__crash"),
        call("nasty__ok"),
        call("nasty__change"),
        call("nasty__goes"),
        { text: "Done." },
      ],
      agent: { mcp: [nasty()] },
    });
    expect(await session.run("Go")).toMatchObject({ outcome: { type: "answered" } });
    const said = await results(session);
    expect(said[0]).toMatchObject({ isError: true, text: expect.stringContaining("ended with exit code 3") });
    expect(said.slice(1, 3)).toEqual([
      { text: "fine", isError: false },
      { text: "changed", isError: false },
    ]);
    expect(said[3]?.text).toMatch(/^fine/);
  });

  test("does not begin without a server that it needs, and begins without one that it does not", async () => {
    const needing = stage.session({ replies: [], agent: { mcp: [nasty(["die=9"])] } });
    await needing.start("Go");
    expect((await needing.failure()).message).toContain('The MCP server "nasty" ended with exit code 9');
    expect(needing.requests()).toEqual([]);
    const session = stage.session({
      replies: [{ text: "Done." }],
      agent: { mcp: [nasty(["die=9"], { required: false })] },
    });
    expect(await session.run("Go")).toMatchObject({ outcome: { type: "answered" } });
    expect(warnings.map(({ words }) => words)).toContainEqual(
      expect.stringMatching(/"nasty" .*exit code 9.*; the agent works without its tools$/),
    );
  });
});

test("[MCP-09] servers end with the worker", async () => {
  const file = join(folder.path, "pids");
  const other = await openStage({ log });
  const session = other.session({
    replies: [call("nasty__ok"), { text: "Done." }],
    agent: { mcp: [nasty([`child=${file}`])] },
  });
  await session.run("Go");
  const pids = readFileSync(file, "utf8").split(" ").map(Number);
  const alive = () => pids.filter((pid) => existsSync(`/proc/${pid}`));
  expect(alive()).toEqual(pids);
  await other.close();
  await vi.waitFor(() => expect(alive()).toEqual([]), 5000);
});
