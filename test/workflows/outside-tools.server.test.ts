import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { PinnedTool } from "../../src/schema/tool-source.ts";
import { type ToolSource, ToolSourceError } from "../../src/tools/sources/tool-source.ts";
import { defineTool, type ExecutableTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { recordWarnings } from "./support/warnings.ts";

/** A source that a test changes as it runs. Definitions refer to it by name. */
class Shelf implements ToolSource {
  readonly kind = "mcp";
  tools: PinnedTool[] = [];
  prompt = "";
  missing: string | undefined;
  closed = 0;
  readonly isUsedBy: ToolSource["isUsedBy"] = ({ name }) => name === "outside";

  readonly pin: ToolSource["pin"] = async () => {
    if (this.missing !== undefined) throw new ToolSourceError(this.missing);
    const rules = [{ tool: "shelf__burn", outcome: "deny" as const, reason: "nothing is burnt" }];
    return { tools: this.tools, prompt: this.prompt, rules, warnings: ["one tool was left out"] };
  };

  readonly createTool = ({ name, description, replay, data }: PinnedTool): ExecutableTool =>
    defineTool({
      name,
      description,
      replay,
      inputSchema: z.object({ book: z.string() }),
      execute: ({ book }) => `${String(data)} ${book}`,
    });

  readonly close = async () => {
    this.closed += 1;
  };
}

function pinned(remote: string, more: Partial<PinnedTool> = {}): PinnedTool {
  return {
    source: "mcp",
    from: "shelf",
    remote,
    name: `shelf__${remote}`,
    description: `It can ${remote}.`,
    parameters: { type: "object", properties: { book: { type: "string" } } },
    replay: "pure",
    hash: remote,
    data: `${remote}:`,
    ...more,
  };
}

const shelf = new Shelf();
const { log, warnings } = recordWarnings();
let read = 0;
/** The warnings since the last call. */
const warned = (): string[] => {
  const fresh = warnings.slice(read).map(({ text }) => text);
  read = warnings.length;
  return fresh;
};
let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ log, registered: { sources: [shelf] } });
});
afterAll(async () => {
  await stage.close();
  expect(shelf.closed).toBe(1);
});

const call = (name: string, book = "Emma") => ({ toolCalls: [{ name, arguments: { book } }] });
const sessionWith = (...names: string[]) =>
  stage.session({
    replies: [...names.map((name) => call(name)), { text: "Done." }],
    agent: { name: "outside", tools: ["list_files"], systemPrompt: "You read." },
  });

describe("tools of an external source", () => {
  test("are offered after the agent's own, called as they were pinned, and judged by the source's rules", async () => {
    shelf.tools = [pinned("read"), pinned("burn"), pinned("read", { remote: "read!", name: "shelf__read" })];
    shelf.prompt = "There is a shelf.";
    const session = sessionWith("shelf__read", "shelf__read_2", "shelf__burn");
    const result = await session.run("Go");

    expect(result).toMatchObject({ outcome: { type: "answered" } });
    expect(warned()).toContain("one tool was left out");
    const [first] = session.listRequests();
    const body = first?.body as { system: { text: string }[]; tools: { name: string }[] };
    expect(body.tools.map(({ name }) => name)).toEqual([
      "list_files",
      "shelf__read",
      "shelf__burn",
      "shelf__read_2",
    ]);
    expect(body.system[0]?.text).toBe("You read.\n\nThere is a shelf.");
    const results = (await session.readEntries())
      .map(({ message }) => message)
      .filter(({ role }) => role === "toolResult");
    expect(results).toMatchObject([
      { content: [{ text: "read: Emma" }], isError: false },
      { content: [{ text: "read: Emma" }], isError: false },
      { content: [{ text: expect.stringContaining("nothing is burnt") }], isError: true },
    ]);
  });

  thoroughTest("stay unchanged during a loop, and a changed one is named the next time", async () => {
    shelf.tools = [pinned("read"), pinned("lend")];
    shelf.prompt = "";
    const session = stage.session({
      replies: [call("shelf__lend"), { text: "Done." }, call("shelf__sort"), { text: "Done." }],
      agent: { name: "outside" },
    });
    await session.run("Go");
    warned();
    shelf.tools = [pinned("read", { hash: "another" }), pinned("sort")];
    const again = await session.run("Once more");

    expect(again).toMatchObject({ outcome: { type: "answered" } });
    expect(warned()).toEqual(
      expect.arrayContaining([
        "The tool read of mcp shelf has changed since the last run of this session",
        "The tool sort of mcp shelf is new to this session",
        "The tool lend of mcp shelf is no longer available",
      ]),
    );
  });

  thoroughTest("that are unavailable prevent the start, with the source's error text", async () => {
    shelf.missing = "The shelf is locked";
    const session = sessionWith("shelf__read");
    await session.start("Go");
    const { message } = await session.readFailure();
    shelf.missing = undefined;
    expect(message).toContain("The shelf is locked");
    expect(session.listRequests()).toEqual([]);
  });

  test("do not affect a definition without them: it is stored unchanged", async () => {
    const session = stage.session({ replies: [{ text: "Done." }], agent: { name: "plain" } });
    await session.run("Go");
    const record = await stage.transcript.readSession(session.id);
    expect(await stage.transcript.readDefinition(record?.definitionHash ?? "")).not.toHaveProperty("pinned");
  });
});
