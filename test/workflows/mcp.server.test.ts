import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { temporal } from "@temporalio/proto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  createStdioServer,
  createTemporaryFolder,
  MISBEHAVING_SERVER,
  resolveOfficialServer,
} from "../mcp/support/mcp-servers.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { recordWarnings } from "./support/warnings.ts";

const { log, warnings } = recordWarnings();
const folder = createTemporaryFolder();
let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ log });
});
afterAll(async () => {
  await stage.close();
  folder.remove();
});

const call = (name: string, parameters: object = {}) => ({ toolCalls: [{ name, arguments: parameters }] });
const nasty = (args: readonly string[] = [], more: object = {}) =>
  createStdioServer(
    MISBEHAVING_SERVER,
    { args },
    { name: "nasty", include: ["ok", "crash", "change", "goes"], ...more },
  );

async function results(
  session: ReturnType<TestEnvironment["session"]>,
): Promise<{ text: string; isError: boolean }[]> {
  return (await session.readEntries()).flatMap(({ message }) =>
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

const signalsIn = (events: readonly temporal.api.history.v1.IHistoryEvent[]) =>
  events.flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? []);

describe("an agent with MCP servers", () => {
  test("[MCP-08.1] uses the tools of a real server beside its own", async () => {
    writeFileSync(join(folder.path, "note.txt"), "the words of the note");
    const files = createStdioServer(
      resolveOfficialServer("filesystem"),
      { args: [folder.path] },
      { name: "files", trusted: true },
    );
    const path = join(folder.path, "note.txt");
    const session = stage.session({
      replies: [call("files__read_text_file", { path }), { text: "Done." }],
      agent: { tools: ["list_files"], mcp: [{ ...files, include: ["read_*"] }] },
    });
    expect(await session.run("Read it")).toMatchObject({ outcome: { type: "answered" } });
    expect(await results(session)).toEqual([{ text: "the words of the note", isError: false }]);
    const [first] = session.listRequests();
    const body = first?.body as { tools: { name: string }[] };
    const names = body.tools.map(({ name }) => name);
    expect(names).toEqual([
      "list_files",
      "files__read_file",
      "files__read_text_file",
      "files__read_media_file",
      "files__read_multiple_files",
    ]);
  });

  thoroughTest(
    "[MCP-06.1, MCP-06.5] continues when a server crashes, and when it offers other tools than before",
    async () => {
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
      expect(said[0]).toMatchObject({
        isError: true,
        text: expect.stringContaining("ended with exit code 3"),
      });
      expect(said.slice(1, 3)).toEqual([
        { text: "fine", isError: false },
        { text: "changed", isError: false },
      ]);
      expect(said[3]?.text).toMatch(/^fine/);
    },
  );

  test("[MCP-05.4] learns with its next request, once, that a server offers other tools; the next loop has them", async () => {
    const file = join(folder.path, "change");
    const include = ["ok", "goes", "changes", "fresh"];
    const server = nasty([`change-when=${file}`], { include });
    const begins = [
      { ...call("list_files"), holdUntil: "server-changed" },
      call("nasty__goes"),
      call("nasty__changes"),
      { text: "Done." },
    ];
    const session = stage.session({
      replies: [...begins, { text: "Again." }],
      agent: { tools: ["list_files"], mcp: [server] },
    });
    await session.start("Go");
    await stage.model.waitForHold("server-changed");
    writeFileSync(file, "");
    const told = () => session.handle.fetchHistory().then(({ events }) => signalsIn(events ?? []));
    await eventually(async () => (await told()).length > 0);
    stage.model.release("server-changed");
    expect(await session.readResult()).toMatchObject({ outcome: { type: "answered" } });
    expect(await told()).toEqual(["toolListChanged"]);

    const notice =
      "user: The MCP server nasty offers different tools than when you started. New: nasty__fresh. No longer offered: " +
      "nasty__goes. Changed: nasty__changes.";
    const heard = (nth: number) =>
      session.listSeenMessages(nth).filter((line) => line.startsWith(notice)).length;
    expect([0, 1, 2, 3].map(heard)).toEqual([0, 1, 1, 1]);
    const [, gone, changed] = await results(session);
    expect(gone?.isError).toBe(true);
    expect(gone?.text).toContain("Unknown tool: goes");
    expect(gone?.text).toContain("the server no longer offers this tool");
    expect(changed).toEqual({ text: "fine", isError: false });

    await session.run("And now?");
    const names = session.listRequests().map(({ body }) => {
      const { tools } = body as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    });
    const before = ["list_files", "nasty__ok", "nasty__goes", "nasty__changes"];
    expect(names.slice(0, 4)).toEqual([before, before, before, before]);
    expect(names[4]).toEqual(["list_files", "nasty__ok", "nasty__changes", "nasty__fresh"]);
    expect(await told()).toEqual([]);
  });

  test("does not begin without a server that it needs, and begins without an optional one", async () => {
    const needing = stage.session({ replies: [], agent: { mcp: [nasty(["die=9"])] } });
    await needing.start("Go");
    expect((await needing.readFailure()).message).toContain('The MCP server "nasty" ended with exit code 9');
    expect(needing.listRequests()).toEqual([]);
    const session = stage.session({
      replies: [{ text: "Done." }],
      agent: { mcp: [nasty(["die=9"], { required: false })] },
    });
    expect(await session.run("Go")).toMatchObject({ outcome: { type: "answered" } });
    expect(warnings.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/"nasty" .*exit code 9.*; the agent works without its tools$/),
    );
  });
});

thoroughTest("[MCP-09.1] servers end with the worker", async () => {
  const file = join(folder.path, "pids");
  const other = await openTestEnvironment({ log });
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
