import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { McpServer } from "../../src/schema/mcp.ts";
import { createArgumentParser } from "../../src/tools/sources/mcp/argument-parser.ts";
import { McpSource } from "../../src/tools/sources/mcp/mcp-source.ts";
import { createMcpTool } from "../../src/tools/sources/mcp/mcp-tool.ts";
import { pinTools } from "../../src/tools/sources/mcp/pin-tools.ts";
import type { PooledServer, ToolCallOptions } from "../../src/tools/sources/mcp/pooled-server.ts";
import { pinResourceTools } from "../../src/tools/sources/mcp/resource-tools.ts";
import { toRemoteTool } from "../../src/tools/sources/mcp/sdk/listings.ts";
import { ServerBackOff } from "../../src/tools/sources/mcp/server-back-off.ts";
import { formatContent, toToolResult } from "../../src/tools/sources/mcp/tool-result.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { PDF } from "../support/media.ts";
import { thoroughTest } from "../support/test-depth.ts";
import {
  createContext,
  createPool,
  createSandboxes,
  createStdioServer,
  createTemporaryFolder,
  MISBEHAVING_SERVER,
  OUTSIDE,
} from "./support/mcp-servers.ts";

const { signal } = new AbortController();
const HOLDER = join(import.meta.dirname, "support/pool-process.mjs");
const SECRET = "s3cr3t-and-long";
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type More = { readonly args?: readonly string[]; readonly env?: Record<string, string> };

function nasty({ args = [], env = {} }: More = {}, more: object = {}) {
  const server = createStdioServer(
    MISBEHAVING_SERVER,
    { args, env: { NASTY_TOKEN: "${NASTY_TOKEN}", ...env } },
    more,
  );
  const { pool, lines } = createPool({ NASTY_TOKEN: SECRET });
  closing.push(() => pool.close());
  return { server, pool, lines, kept: pool.getServer(server, OUTSIDE) };
}

const call = async (kept: PooledServer, name: string, options: Partial<ToolCallOptions> = {}) => {
  const { result, notes } = await kept.callTool(name, {}, { signal, ...options });
  return [formatContent(toToolResult(result).content), ...notes].join("\n");
};
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
};
const pinnedTool = (server: McpServer, kept: PooledServer, remote: string) => {
  const pinned = pinTools(server, kept.lastListing?.tools ?? []).tools.find((one) => one.remote === remote);
  if (pinned === undefined) throw new Error(`no tool ${remote}`);
  return createMcpTool(pinned, server, () => kept);
};

describe("a call to a misbehaving server", () => {
  test("[MCP-06.1] a crash during a call reports the exit without secrets; the next call restarts the server", async () => {
    const { kept, lines } = nasty();
    await expect(call(kept, "crash")).rejects.toMatchObject({
      fault: "closed",
      message: 'The MCP server "test" ended with exit code 3; its last output: out of cheese with ***',
    });
    expect(await call(kept, "ok")).toBe("fine");
    expect(lines.map(({ message }) => message)).toContain(
      "An MCP server failed; it is restarted when it is next needed",
    );
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  test("[MCP-07.1] silence ends with the time limit, and the server remains usable", async () => {
    const { kept } = nasty({}, { timeoutMs: 300, startTimeoutMs: 10_000 });
    await expect(call(kept, "silence")).rejects.toMatchObject({ fault: "timed-out" });
    expect(await call(kept, "ok")).toBe("fine");
  });

  test("a message that is too long ends the server, not the worker", async () => {
    const { kept } = nasty();
    await expect(call(kept, "huge")).rejects.toMatchObject({
      fault: "closed",
      message: expect.stringMatching(/was terminated because it sent a message of more than 10485760 bytes/),
    });
    expect(await call(kept, "ok")).toBe("fine");
  });

  test("a line with endlessly nested objects ends nothing, and the call continues", async () => {
    const { kept } = nasty();
    expect(await call(kept, "abyss")).toBe("still here");
  });

  test.each([
    ["flood", /was terminated because it sent more than 5000 messages in a second$/],
    ["deaf", /was terminated because it did not read 1000 messages$/],
  ])("a server that only keeps the worker busy is ended: %s", async (name, how) => {
    const { kept } = nasty();
    await expect(call(kept, name)).rejects.toThrow(how);
    expect(await call(kept, "ok")).toBe("fine");
  });

  test("a long text is cut at a whole character", async () => {
    const { kept } = nasty();
    const text = await call(kept, "long");
    expect(text).toMatch(/^é+\n\.\.\. \(output truncated\)$/);
    expect(Buffer.byteLength(text)).toBeLessThan(257 * 1024);
  });

  test('[MCP-02.3, MCP-06.2] an answer without a result is the protocol error "Empty result"', async () => {
    const { kept } = nasty();
    await expect(call(kept, "no-result")).rejects.toMatchObject({
      fault: "protocol",
      message: 'The MCP server "test" violated the protocol: Empty result',
    });
  });

  test("[MCP-02.2, MCP-05.3, MCP-06.3] an error is reported with its code, a failed tool with its text", async () => {
    const { kept, server } = nasty();
    await expect(call(kept, "refuses")).rejects.toMatchObject({
      fault: "json-rpc",
      code: -32602,
      message: 'The MCP server "test" rejected the request: wrong number of legs (-32602)',
    });
    const tool = pinnedTool(server, kept, "fails");
    await expect(tool.execute({}, createContext().context)).rejects.toMatchObject({
      name: "ToolError",
      fault: "failed",
      message: "the disk is full",
    });
  });

  test("text that is not JSON and answers to unknown requests are ignored", async () => {
    const { kept } = nasty({ args: ["junk"] });
    expect(await call(kept, "not-json")).toBe("after the noise");
    expect(await call(kept, "wrong-id")).toBe("for you");
  });

  test("content of unknown and invalid kinds is named, not displayed", async () => {
    const { kept } = nasty();
    expect((await call(kept, "odd-content")).split("\n")).toEqual([
      '[content of the unknown type "hologram" is omitted]',
      "[image, image/png, 8 bytes: a model cannot receive it]",
      "[image image/png]",
      "[audio, audio/wav, 3 bytes: a model cannot receive it]",
      "[resource x://blob, application/zip, 3 bytes: it is neither an image (PNG, JPEG, GIF, WebP), nor a PDF document, nor text]",
      '[content of the unknown type "undefined" is omitted]',
      "",
      "half of one: \uFFFD",
    ]);
  });
});

test("[MCP-05.2] an image has the type of its bytes: vendors reject others, and the conversation with them", () => {
  const image = (bytes: string, mimeType: string) => ({
    type: "image",
    data: Buffer.from(bytes, "latin1").toString("base64"),
    mimeType,
  });
  const content = [image("GIF89a and more", "image/png"), image("<html>no picture</html>", "image/png")];
  expect(toToolResult({ content }).content).toEqual([
    { ...content[0], mimeType: "image/gif" },
    { type: "text", text: "[image, image/png, 24 bytes: it is no image]" },
  ]);
});

test("a resource's bytes are a PDF document, a text or an image, by what they are", () => {
  const resource = (bytes: Buffer, uri: string, mimeType: string) => ({
    type: "resource",
    resource: { uri, mimeType, blob: bytes.toString("base64") },
  });
  const content = [
    resource(PDF, "file:///docs/plan.pdf?v=2", "application/octet-stream"),
    resource(Buffer.from("a,b"), "x://table.csv", "text/csv"),
    resource(Buffer.from([0, 1, 2]), "x://data.bin", "application/zip"),
  ];
  expect(toToolResult({ content }).content).toEqual([
    { type: "file", name: "plan.pdf", mimeType: "application/pdf", data: PDF.toString("base64"), pages: 1 },
    { type: "file", name: "table.csv", mimeType: "text/csv", data: Buffer.from("a,b").toString("base64") },
    {
      type: "text",
      text: expect.stringMatching(/^\[resource x:\/\/data\.bin, application\/zip, 3 bytes: it is neither/),
    },
  ]);
});

describe("a server's tool list", () => {
  const inputSchema = { type: "object" };

  test("a schema never blocks the worker: patterns are left to the server, circular references are ignored", () => {
    const slow = createArgumentParser({ properties: { q: { type: "string", pattern: "^(a+)+$" } } });
    const spentMs = cpuMs(() => {
      expect(slow({ q: `${"a".repeat(40)}!` })).toMatchObject({ ok: true });
    });
    expect(spentMs).toBeLessThan(2000);
    expect(slow({ q: 1 })).toMatchObject({ ok: false });
    expect(createArgumentParser({ $ref: "#" })({ q: 1 })).toMatchObject({ ok: true });
  });

  test("a tool with an unreadably deep schema or a huge name is skipped", () => {
    const deep = JSON.parse(`${'{"x":'.repeat(100_000)}1${"}".repeat(100_000)}`) as object;
    expect(toRemoteTool({ name: "deep", inputSchema: deep })).toBeUndefined();
    const long = { name: "n".repeat(1_000_000), inputSchema, hints: {}, needsTask: false };
    const { tools, warnings } = pinTools(createStdioServer(MISBEHAVING_SERVER), [long]);
    expect(tools).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/is skipped: its name has more than 512 characters$/)]);
  });

  test("a tool with the name of one of our own tools is the server's", async () => {
    const server = createStdioServer(MISBEHAVING_SERVER, {}, { resources: true });
    const [tool] = pinTools(server, [
      { name: "resources/list", inputSchema, hints: {}, needsTask: false },
    ]).tools;
    const own = pinResourceTools(server)[0];
    const source = new McpSource({
      sandboxes: createSandboxes(),
      secrets: () => undefined,
      version: "0",
      log: console,
    });
    expect(source.createTool({ ...tool!, data: { server } }).execute.toString()).not.toBe(
      source.createTool({ ...own!, data: { server } }).execute.toString(),
    );
    await source.close();
  });

  test("[MCP-05.1] names are made valid and unique, texts are limited, unusable tools are skipped", async () => {
    const { kept, server } = nasty();
    const { tools, warnings } = pinTools(server, (await kept.getListing(signal)).tools);
    const names = new Map(tools.map(({ remote, name }) => [remote, name]));
    expect(names.get("read_file")).toBe("test__read_file");
    expect(names.get("read.file")).toMatch(/^test__read_file_[0-9a-f]{8}$/);
    expect(names.get("read file")).toMatch(/^test__read_file_[0-9a-f]{8}$/);
    expect(new Set(names.values()).size).toBe(tools.length);
    expect(Math.max(...[...names.values()].map((name) => name.length))).toBe(64);
    for (const name of names.values()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const whisper = tools.find(({ remote }) => remote === "whisper");
    expect(whisper?.description).toMatch(/^Reads\. y+\.\.\.$/);
    expect(whisper?.description).toHaveLength(4096);
    expect([...names.keys()]).not.toContain("task");
    expect([...names.keys()]).not.toContain("fat");
    expect(warnings).toEqual([
      expect.stringMatching(/^The tool fat of the MCP server test is skipped: its schema has more than/),
      "The tool task of the MCP server test is skipped: it can only be called as a task",
      "The tool ok of the MCP server test is offered twice; the first one is used",
      "The tool whisper of the MCP server test has a long description, which was cut to 4096 characters",
    ]);
  });

  test("names do not depend on the order in which a server lists them", async () => {
    const { kept, server } = nasty();
    const { tools: remote } = await kept.getListing(signal);
    const named = (list: typeof remote) =>
      Object.fromEntries(pinTools(server, list).tools.map((one) => [one.remote, one.name]));
    const without = remote.filter(({ name }, index) => name !== "ok" || index === 0);
    expect(named([...without].reverse())).toEqual(named(without));
  });

  test("patterns select tools; a pattern without a match is a warning", async () => {
    const { kept, server } = nasty();
    const { tools: remote } = await kept.getListing(signal);
    const chosen = { ...server, prefix: "", include: ["read*", "ok"], exclude: ["*file"], confirm: ["okay"] };
    const { tools, warnings } = pinTools({ ...chosen, exclude: ["read.*", "read file"] }, remote);
    expect(tools.map(({ name }) => name)).toEqual(["ok", "read_file"]);
    expect(warnings).toContain(
      'confirm of the MCP server test names "okay", which matches none of its tools',
    );
  });

  test("a changed list is noticed and reported with the next result of an affected tool", async () => {
    const { kept, server } = nasty();
    await kept.getListing(signal);
    const [ok, gone, other] = ["ok", "goes", "changes"].map((name) => pinnedTool(server, kept, name));
    await call(kept, "change");
    await vi.waitFor(() => expect(kept.lastListing?.tools.map(({ name }) => name)).toContain("fresh"), 5000);
    const said = async (tool: typeof ok) => {
      const { content = [] } = (await tool?.execute({}, createContext().context)) ?? {};
      return content.map((part) => (part.type === "text" ? part.text : ""));
    };
    expect(await said(ok)).toEqual(["fine"]);
    const old = "you have the old description.)";
    expect(await said(gone)).toEqual([
      "fine",
      `(Since this run began, the server no longer offers this tool; ${old}`,
    ]);
    expect(await said(other)).toEqual([
      "fine",
      `(Since this run began, the server has changed its definition of this tool; ${old}`,
    ]);
  });
});

describe("a server's questions", () => {
  test("a question to a user is declined and reported if no user is available", async () => {
    const { kept } = nasty();
    expect(await call(kept, "elicit")).toBe(
      '{"action":"decline"}\nThe server asked the user "Your name?"; no user could be asked, so the request was declined.',
    );
  });

  test("a question is answered by the caller, and the time limit is paused", async () => {
    const { kept } = nasty({}, { timeoutMs: 400, startTimeoutMs: 10_000 });
    const seen: unknown[] = [];
    const ask: ToolCallOptions["elicit"] = async (question) => {
      seen.push(question);
      await new Promise((resolve) => setTimeout(resolve, 700));
      return { type: "accept", values: { name: "Grace" } };
    };
    expect(await call(kept, "elicit", { elicit: ask })).toBe(
      '{"action":"accept","content":{"name":"Grace"}}',
    );
    expect(seen).toEqual([
      { type: "form", message: "Your name?", schema: expect.objectContaining({ type: "object" }) },
    ]);
  });

  test("a model is not called unless the definition allows it", async () => {
    const { kept } = nasty();
    expect(await call(kept, "sample")).toMatch(/"code":-1.*does not allow its servers to call a model/);
    const { kept: allowed } = nasty({}, { sampling: true });
    const sample: ToolCallOptions["sample"] = async () => ({
      model: "m",
      role: "assistant",
      content: { type: "text", text: "Hello" },
    });
    expect(await call(allowed, "sample", { sample })).toContain('"text":"Hello"');
    expect(await call(allowed, "sample")).toMatch(/No model is available.*\n.*no model is available to it/);
  });
});

describe("a server's lifetime", () => {
  test("the pause after a failure has its full length, even if the clock is changed meanwhile", async () => {
    const backOff = new ServerBackOff();
    backOff.recordFailure("ended");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
    closing.push(() => vi.useRealTimers());
    await expect(backOff.wait(signal)).resolves.toBeUndefined();
  });

  test("[MCP-10.2] requests are sequential, unless the definition allows more at once", async () => {
    const one = nasty();
    expect(await Promise.all([1, 2, 3].map(() => call(one.kept, "busy")))).toEqual(
      Array(3).fill("at most 1"),
    );
    const three = nasty({}, { concurrency: 3 });
    await three.kept.getListing(signal);
    expect(await Promise.all([1, 2, 3].map(() => call(three.kept, "busy")))).toEqual(
      Array(3).fill("at most 3"),
    );
  });

  test("[MCP-02.1, TEST-05.1] [MCP-03.1-2] [X-33] requests count from 1, and `initialized` is a notification", async () => {
    const folder = createTemporaryFolder();
    closing.push(folder.remove);
    const log = join(folder.path, "log");
    const { kept } = nasty({ args: [`log=${log}`] });
    await call(kept, "ok");
    const [, ...said] = readFileSync(log, "utf8").trim().split("\n");
    expect(said).toEqual([
      "initialize 1",
      "notifications/initialized -",
      "tools/list 2",
      "tools/list 3",
      "tools/list 4",
      "tools/call 5",
    ]);
  });

  test("the server receives nothing of the worker's environment except what its definition passes on", async () => {
    process.env["HOLDFAST_TEST_KEY"] = "worker's own";
    closing.push(() => delete process.env["HOLDFAST_TEST_KEY"]);
    // The definition also replaces what every server gets of the worker's environment.
    const given = { EXTRA: "given", HOME: "/the/server/s/own", LANG: "tlh" };
    const { kept } = nasty({ env: given });
    const seen = JSON.parse(await call(kept, "environment")) as Record<string, string>;
    expect(seen).toMatchObject({ ...given, NASTY_TOKEN: SECRET });
    expect(seen["HOLDFAST_TEST_KEY"]).toBeUndefined();
  });

  test("[MCP-09.1] an idle server is ended by closing its input, and restarted when it is needed", async () => {
    const folder = createTemporaryFolder();
    closing.push(folder.remove);
    const log = join(folder.path, "log");
    const { pool, server } = nasty({ args: [`log=${log}`] }, { idleMs: 150 });
    await call(pool.getServer(server, OUTSIDE), "ok");
    const lines = () => readFileSync(log, "utf8");
    await vi.waitFor(() => expect(lines()).toContain("end of input"), 5000);
    expect(await call(pool.getServer(server, OUTSIDE), "ok")).toBe("fine");
    expect(lines().match(/^start /gm)).toHaveLength(2);
  });

  thoroughTest("[MCP-09.2] a server that ignores this is killed with its children", async () => {
    const folder = createTemporaryFolder();
    closing.push(folder.remove);
    const file = join(folder.path, "pids");
    const { pool, kept } = nasty({ args: ["stubborn", `child=${file}`] });
    await call(kept, "ok");
    const pids = readFileSync(file, "utf8").split(" ").map(Number);
    expect(pids.map(alive)).toEqual([true, true]);
    await pool.close();
    expect(pids.map(alive)).toEqual([false, false]);
    await expect(call(kept, "ok")).rejects.toThrow(/is not started: the worker is shutting down/);
  });

  test("[MCP-09.2] a worker that is killed leaves no server running", async () => {
    const folder = createTemporaryFolder();
    closing.push(folder.remove);
    const file = join(folder.path, "pids");
    const holder = spawn(process.execPath, [HOLDER, file], { stdio: ["ignore", "pipe", "inherit"] });
    closing.push(() => holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    const pids = readFileSync(file, "utf8").split(" ").map(Number);
    expect(pids.map(alive)).toEqual([true, true]);
    holder.kill("SIGKILL");
    await vi.waitFor(() => expect(pids.map(alive)).toEqual([false, false]), 5000);
  });

  test("a slow start is awaited as long as the definition says, and no longer", async () => {
    const { kept } = nasty({ args: ["slow-start=900"] }, { startTimeoutMs: 300 });
    await expect(call(kept, "ok")).rejects.toThrow(
      'The MCP server "test" did not list its tools within 300 ms (if the server starts slowly, increase `startTimeoutMs`)',
    );
    const { kept: patient } = nasty({ args: ["slow-start=900"] }, { timeoutMs: 500, startTimeoutMs: 10_000 });
    expect(await call(patient, "ok")).toBe("fine");
  });

  thoroughTest("a server that cannot start is retried with growing delays", async () => {
    const folder = createTemporaryFolder();
    closing.push(folder.remove);
    const log = join(folder.path, "log");
    const { kept } = nasty({ args: [`log=${log}`, "die=7"] });
    for (let tries = 0; tries < 5; tries += 1)
      await expect(call(kept, "ok")).rejects.toThrow(/exit code 7.*\*\*\*/);
    await expect(call(kept, "ok")).rejects.toThrow(
      /is retried in \d+ s; at the last attempt it ended with exit code 7/,
    );
    expect(readFileSync(log, "utf8").match(/^start /gm)).toHaveLength(5);
  });

  test("a secret that is not set, a missing program and a missing folder are named", async () => {
    const { pool } = createPool();
    closing.push(() => pool.close());
    const failing = async (server: McpServer) =>
      await call(pool.getServer(server, OUTSIDE), "ok").catch(String);
    expect(
      await failing(createStdioServer(MISBEHAVING_SERVER, { env: { NASTY_TOKEN: "${NASTY_TOKEN}" } })),
    ).toMatch(/cannot be used: NASTY_TOKEN is not set in the environment of the worker/);
    expect(await failing(createStdioServer(MISBEHAVING_SERVER, { cwd: "/nowhere/at/all" }))).toMatch(
      /the folder does not exist/,
    );
    const missing = createStdioServer(MISBEHAVING_SERVER);
    const transport = { ...missing.transport, command: "no-such-program-here" } as McpServer["transport"];
    expect(await failing({ ...missing, transport })).toMatch(/ended with exit code 127.*not found/);
    expect(existsSync("/nowhere")).toBe(false);
  });
});
