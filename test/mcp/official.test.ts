import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { McpServer } from "../../src/schema/mcp.ts";
import { createMcpTool } from "../../src/tools/sources/mcp/mcp-tool.ts";
import { pinTools } from "../../src/tools/sources/mcp/pin-tools.ts";
import type { PooledServer } from "../../src/tools/sources/mcp/pooled-server.ts";
import { createResourceTool, pinResourceTools } from "../../src/tools/sources/mcp/resource-tools.ts";
import type { ExecutableTool } from "../../src/tools/tool.ts";
import {
  createContext,
  createHttpServer,
  createPool,
  createStdioServer,
  createTemporaryFolder,
  OUTSIDE,
  resolveOfficialServer,
  startListeningServer,
} from "./support/mcp-servers.ts";

const { signal } = new AbortController();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** The tools of a server as a worker has them, by the server's names. */
async function toolsOf(
  server: McpServer,
): Promise<{ tool: (remote: string) => ExecutableTool; kept: PooledServer }> {
  const { pool } = createPool();
  closing.push(() => pool.close());
  const kept = pool.getServer(server, OUTSIDE);
  const { tools } = pinTools(server, (await kept.getListing(signal)).tools);
  const tool = (remote: string) => {
    const pinned = tools.find((one) => one.remote === remote);
    if (pinned === undefined) throw new Error(`no tool ${remote} among ${tools.map((one) => one.remote)}`);
    return createMcpTool(pinned, server, () => pool.getServer(server, OUTSIDE));
  };
  return { tool, kept };
}

const run = async (tool: ExecutableTool, parameters: object, given = createContext()) => {
  const parsed = tool.parse(parameters);
  if (!parsed.ok) throw new Error(parsed.message);
  return await tool.execute(parsed.value, given.context);
};
const textOf = ({ content }: Awaited<ReturnType<ExecutableTool["execute"]>>) =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n");

let remote: Awaited<ReturnType<typeof startListeningServer>>;
beforeAll(async () => {
  remote = await startListeningServer(resolveOfficialServer("everything"), ["streamableHttp"]);
});
afterAll(async () => {
  await remote.stop();
});

describe.each([
  ["stdio", () => createStdioServer(resolveOfficialServer("everything"), { args: ["stdio"] })],
  ["streamable HTTP", () => createHttpServer(remote.url)],
])("server-everything over %s", (_, server) => {
  test("[MCP-01.1-2, TEST-05.2] [MCP-03.3] [MCP-04.1] [MCP-05.1] lists its tools under its prefix, with schema and description", async () => {
    const { kept, tool } = await toolsOf(server());
    const { serverInfo } = await kept.getListing(signal);
    expect(serverInfo).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: { tools: true, prompts: true },
    });
    expect(tool("echo")).toMatchObject({
      name: "test__echo",
      description: "Echoes back the input string",
      replay: "unsafe",
      parameters: { type: "object", required: ["message"] },
    });
  });

  test("[MCP-04.2, MCP-05.2, TEST-05.3] returns text, images, structured content and resources", async () => {
    const { tool } = await toolsOf(server());
    expect(textOf(await run(tool("echo"), { message: "héllo 🙂" }))).toBe("Echo: héllo 🙂");
    expect(textOf(await run(tool("get-sum"), { a: 2, b: 40 }))).toContain("42");
    const picture = await run(tool("get-tiny-image"), {});
    expect(picture.content).toContainEqual(
      expect.objectContaining({
        type: "image",
        mimeType: "image/png",
        data: expect.stringMatching(/^iVBOR/),
      }),
    );
    const weather = await run(tool("get-structured-content"), { location: "New York" });
    expect(weather.details).toEqual({ structuredContent: expect.objectContaining({ temperature: 33 }) });
    expect(textOf(await run(tool("get-resource-links"), { count: 2 }))).toMatch(/\[resource .*<demo:\/\//);
    const reference = await run(tool("get-resource-reference"), { resourceType: "Text", resourceId: 1 });
    expect(textOf(reference)).toContain("demo://resource/dynamic/text/1:\nResource 1:");
  });

  test("[MCP-05.1] invalid arguments are rejected before they are sent", async () => {
    const { tool } = await toolsOf(server());
    expect(tool("get-sum").parse({ a: "two", b: 1 })).toEqual({ ok: false, message: "a: must be number" });
    expect(tool("get-sum").parse({ a: 2 })).toMatchObject({ ok: false });
  });

  test("[MCP-07.1] reports progress, which extends its time limit", async () => {
    const { tool } = await toolsOf({ ...server(), timeoutMs: 500, startTimeoutMs: 20_000 });
    const given = createContext();
    const output = await run(tool("trigger-long-running-operation"), { duration: 1.2, steps: 4 }, given);
    expect(textOf(output)).toMatch(/completed/i);
    expect(given.progress).toEqual(["1 of 4", "2 of 4", "3 of 4", "4 of 4"]);
  });

  test("[MCP-07.1] a call without progress ends after its time limit", async () => {
    const { tool } = await toolsOf({ ...server(), timeoutMs: 300, startTimeoutMs: 20_000 });
    await expect(run(tool("trigger-long-running-operation"), { duration: 5, steps: 1 })).rejects.toThrow(
      'The MCP server "test" did not answer in 300 ms',
    );
  });

  test("a cancelled call ends at once, and the server remains usable", async () => {
    const { tool } = await toolsOf(server());
    const stop = new AbortController();
    const begun = performance.now();
    const work = run(
      tool("trigger-long-running-operation"),
      { duration: 20, steps: 40 },
      {
        ...createContext(stop.signal),
      },
    );
    setTimeout(() => stop.abort(), 200);
    await expect(work).rejects.toMatchObject({ fault: "cancelled" });
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(textOf(await run(tool("echo"), { message: "still there" }))).toBe("Echo: still there");
  });

  test("its resources are read by tool calls, and its prompts are listed", async () => {
    const definition = { ...server(), resources: true };
    const { kept } = await toolsOf(definition);
    const [list, read] = pinResourceTools(definition).map((pinned, index) =>
      createResourceTool(pinned, index === 0 ? "list" : "read", definition, () => kept),
    );
    expect(list?.name).toBe("test__list_resources");
    const listed = textOf(await run(list as ExecutableTool, {}));
    expect(listed).toContain("demo://resource/dynamic/text/{resourceId}");
    expect(textOf(await run(read as ExecutableTool, { uri: "demo://resource/dynamic/text/7" }))).toContain(
      "Resource 7",
    );
    await expect(run(read as ExecutableTool, { uri: "demo://nowhere" })).rejects.toThrow(
      /The MCP server "test" rejected the request/,
    );
    const prompts = await kept.run({ signal }, (connection, request) => connection.listPrompts(request));
    expect(prompts.map(({ name }) => name)).toContain("simple-prompt");
  });
});

describe("server-filesystem", () => {
  test("[MCP-04.3] reads and writes below its folder and rejects paths outside of it", async () => {
    const folder = createTemporaryFolder();
    closing.push(async () => folder.remove());
    writeFileSync(join(folder.path, "note.txt"), "a note");
    const server = createStdioServer(
      resolveOfficialServer("filesystem"),
      { args: [folder.path] },
      { trusted: true },
    );
    const { tool } = await toolsOf(server);
    expect(textOf(await run(tool("read_text_file"), { path: join(folder.path, "note.txt") }))).toContain(
      "a note",
    );
    await run(tool("write_file"), { path: join(folder.path, "new.txt"), content: "new words" });
    expect(readFileSync(join(folder.path, "new.txt"), "utf8")).toBe("new words");
    await expect(run(tool("read_text_file"), { path: "/etc/hostname" })).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringMatching(/Access denied/),
    });
  });

  test("the tool annotations of a trusted server determine their replay class; an untrusted server's tools are unsafe", async () => {
    const folder = createTemporaryFolder();
    closing.push(async () => folder.remove());
    const classes = async (more: object) => {
      const { tool } = await toolsOf(
        createStdioServer(resolveOfficialServer("filesystem"), { args: [folder.path] }, more),
      );
      return ["read_text_file", "create_directory", "write_file", "move_file"].map(
        (name) => tool(name).replay,
      );
    };
    expect(await classes({ trusted: true })).toEqual(["pure", "idempotent", "idempotent", "unsafe"]);
    expect(await classes({})).toEqual(["unsafe", "unsafe", "unsafe", "unsafe"]);
    expect(await classes({ replay: { "read_*": "pure" } })).toEqual(["pure", "unsafe", "unsafe", "unsafe"]);
  });
});

describe("server-memory", () => {
  test("[MCP-10.1] remembers data between calls of one process, including simultaneous ones", async () => {
    const folder = createTemporaryFolder();
    closing.push(async () => folder.remove());
    const env = { MEMORY_FILE_PATH: join(folder.path, "memory.json") };
    const { tool } = await toolsOf(createStdioServer(resolveOfficialServer("memory"), { env }));
    const entities = ["Ada", "Grace"].map((name) => ({
      name,
      entityType: "person",
      observations: ["wrote code"],
    }));
    await Promise.all(entities.map((entity) => run(tool("create_entities"), { entities: [entity] })));
    const graph = await run(tool("read_graph"), {});
    const { structuredContent } = graph.details as { structuredContent: { entities: { name: string }[] } };
    expect(structuredContent.entities.map(({ name }) => name).sort()).toEqual(["Ada", "Grace"]);
  });
});
