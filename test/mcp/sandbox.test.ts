import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type ProcessEnding, startWithoutSandbox } from "../../src/platform/process/process-starter.ts";
import type { AgentDefinition } from "../../src/schema/definition.ts";
import type { McpServer } from "../../src/schema/mcp.ts";
import { type SandboxReport, SandboxSettings, type SandboxSettingsInput } from "../../src/schema/sandbox.ts";
import { Sandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import { inspectServer } from "../../src/tools/sources/mcp/inspect-server.ts";
import { McpPool } from "../../src/tools/sources/mcp/mcp-pool.ts";
import { McpSource } from "../../src/tools/sources/mcp/mcp-source.ts";
import { ServerProcess } from "../../src/tools/sources/mcp/stdio/server-process.ts";
import { ToolSourceError } from "../../src/tools/sources/tool-source.ts";
import type { ExecutableTool } from "../../src/tools/tool.ts";
import { ToolError } from "../../src/tools/tool-execution.ts";
import { HOST, NO_SANDBOX } from "../platform/sandbox/host.ts";
import { describeIf } from "../support/skipping.ts";
import {
  createContext,
  createPlace,
  createStdioServer,
  createTemporaryFolder,
  type LogLine,
} from "./support/mcp-servers.ts";

const PROBING_SERVER = join(import.meta.dirname, "support/probing-server.mjs");
const HOLDER = join(import.meta.dirname, "support/pool-process.mjs");
const describeSandbox = describeIf(HOST.able, NO_SANDBOX);
const { signal } = new AbortController();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Settings with which the servers of this repository can be read, which may be in the folder for temporary files. */
function parseSettings(input: SandboxSettingsInput): SandboxSettings {
  if (input.mode === "off") return SandboxSettings.parse(input);
  return SandboxSettings.parse({
    ...input,
    readable: [...(input.readable ?? []), join(import.meta.dirname, "../..")],
  });
}

const WORKSPACE = parseSettings({ mode: "workspace" });

function createFolder(): string {
  const { path, remove } = createTemporaryFolder();
  closing.push(remove);
  return path;
}

type Stage = {
  readonly fallback?: SandboxSettingsInput;
  /** Pretends that the host cannot make a sandbox. */
  readonly isUnable?: boolean;
};

/** A source as a worker has it, and its log. */
function createSource({ fallback = { mode: "workspace" }, isUnable = false }: Stage = {}) {
  const lines: LogLine[] = [];
  const record = (facts: object, message: string) => void lines.push({ facts: { ...facts }, message });
  const log = { debug: () => {}, info: record, warn: record };
  const unable = {
    able: false,
    obstacle: "absent",
    attempt: "looked",
    answer: "none",
    remedy: "Mend it.",
  } as const;
  const sandboxes = new Sandboxes({
    fallback: parseSettings(fallback),
    holdfastHome: join(createFolder(), "home"),
    environment: {},
    ...(isUnable ? { probe: async () => unable } : {}),
  });
  const options = { sandboxes, secrets: () => undefined, version: "0", log };
  const source = new McpSource(options);
  const pool = new McpPool(options);
  closing.push(
    () => source.close(),
    () => pool.close(),
  );
  return { source, pool, lines, log };
}

function createProbingServer(
  sandbox?: SandboxSettingsInput,
  args: readonly string[] = [],
  more: object = {},
) {
  const server = createStdioServer(PROBING_SERVER, { args }, { prefix: "", ...more });
  return {
    ...server,
    transport: { ...server.transport, ...(sandbox && { sandbox: parseSettings(sandbox) }) },
  } as McpServer;
}

/** Pins a server's tools for a workspace. */
async function pin(
  { source, log }: ReturnType<typeof createSource>,
  server: McpServer,
  workspace: string,
  sandbox?: SandboxSettingsInput,
) {
  const definition = {
    mcp: [server],
    ...(sandbox && { sandbox: parseSettings(sandbox) }),
  } as unknown as AgentDefinition;
  const context = { getSecret: () => undefined, workspace, signal, log };
  const { tools = [] } = await source.pin(definition, context);
  const find = (name: string) => {
    const pinned = tools.find((tool) => tool.name === name);
    if (pinned === undefined) throw new Error(`no tool ${name}`);
    return pinned;
  };
  const reports: SandboxReport[] = [];
  const run = async (
    name: string,
    input: object = {},
    tool: ExecutableTool = source.createTool(find(name)),
  ) => {
    const note = (report: SandboxReport) => void reports.push(report);
    const context = { ...createContext().context, workspace, sandbox: { ask: [], note } };
    const { content } = await tool.execute(input, context);
    return content.map((part) => (part.type === "text" ? part.text : "")).join("");
  };
  return { run, find, reports };
}

async function listen(): Promise<number> {
  const server = createServer((socket) => void socket.resume().end()).listen(0, "127.0.0.1");
  closing.push(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

describeSandbox("a server in a sandbox", () => {
  test("starts in the workspace, writes only there, and has no network", async () => {
    const stage = createSource();
    const [workspace, other] = [createFolder(), createFolder()];
    writeFileSync(join(other, "secret"), "secret");
    const { run, reports } = await pin(stage, createProbingServer(), workspace);
    expect(await run("folder")).toBe(workspace);
    expect(await run("write", { path: join(workspace, "file") })).toBe("written");
    expect(existsSync(join(workspace, "file"))).toBe(true);
    await expect(run("read", { path: join(other, "secret") })).rejects.toThrow("ENOENT");
    await expect(run("write", { path: "/usr/file" })).rejects.toThrow(/EROFS|EACCES/);
    expect(await run("connect", { destination: "127.0.0.1:80" })).toBe("no proxy");
    expect(reports.at(-1)).toEqual({ mode: "workspace" });
  });

  test("serves one workspace: another one has a process of its own", async () => {
    const stage = createSource();
    const server = createProbingServer();
    const [one, other] = [await pin(stage, server, createFolder()), await pin(stage, server, createFolder())];
    expect([await one.run("count"), await other.run("count"), await one.run("count")]).toEqual([
      "1",
      "1",
      "2",
    ]);
  });

  test("has the definition's settings, or its own instead, and each call reports its connections", async () => {
    const stage = createSource();
    const port = await listen();
    const destination = `127.0.0.1:${port}`;
    const open: SandboxSettingsInput = { mode: "strict", network: { allow: [destination] } };
    const closed: SandboxSettingsInput = { mode: "workspace", network: { allow: ["example.com:443"] } };
    const program = { readable: [join(import.meta.dirname, "../.."), process.execPath] };

    const own = await pin(stage, createProbingServer({ ...open, ...program }), createFolder(), closed);
    expect(stage.source.createTool(own.find("connect")).processes).toBe("strict");
    expect(await own.run("connect", { destination })).toMatch(/200 Connection Established/);
    await vi.waitFor(() => expect(own.reports.at(-1)?.mode).toBe("strict"));
    expect(await own.run("connect", { destination: "example.com:80" })).toMatch(/403 Forbidden/);
    expect(own.reports.at(-1)).toMatchObject({
      mode: "strict",
      connections: expect.arrayContaining([
        expect.objectContaining({
          host: "example.com",
          port: 80,
          decision: "refused",
          reason: "not-allowed",
        }),
      ]),
    });

    const inherited = await pin(stage, createProbingServer(), createFolder(), closed);
    expect(stage.source.createTool(inherited.find("connect")).processes).toBe("sandboxed");
    expect(await inherited.run("connect", { destination })).toMatch(/403 Forbidden/);
    expect(inherited.reports.at(-1)).toMatchObject({
      mode: "workspace",
      connections: [{ host: "127.0.0.1", port, decision: "refused", reason: "not-allowed" }],
    });
    // A report belongs to its call.
    await inherited.run("count");
    expect(inherited.reports.at(-1)).toEqual({ mode: "workspace" });
  });

  test("is logged when it connects while no call is in flight", async () => {
    const stage = createSource();
    const workspace = createFolder();
    const sandbox: SandboxSettingsInput = { mode: "workspace", network: { allow: ["example.com:443"] } };
    const { run, reports } = await pin(stage, createProbingServer(sandbox), workspace);
    const path = join(workspace, "done");
    await run("later", { destination: "example.org:443", path });
    await vi.waitFor(() => expect(existsSync(path)).toBe(true), 5000);
    expect(stage.lines).toContainEqual({
      facts: expect.objectContaining({ server: "test", host: "example.org", port: 443, decision: "refused" }),
      message: "An MCP server has connected, or tried to, while no call was in flight",
    });
    expect(reports.flatMap(({ connections = [] }) => connections)).toEqual([]);
  });

  test("reads its resources there as well", async () => {
    const { run, reports } = await pin(
      createSource(),
      createProbingServer(undefined, [], { resources: true }),
      createFolder(),
    );
    expect(await run("list_resources")).toBe("There are no resources.");
    expect(reports.at(-1)).toEqual({ mode: "workspace" });
  });

  test("that was pinned by an earlier release runs in the worker's sandbox, in the workspace of the call", async () => {
    const stage = createSource();
    const workspace = createFolder();
    const server = createProbingServer();
    const { run, find, reports } = await pin(stage, server, createFolder());
    const tool = stage.source.createTool({ ...find("folder"), data: { server } });
    const note = (report: SandboxReport) => void reports.push(report);
    const context = { ...createContext().context, workspace, sandbox: { ask: [], note } };
    expect(await tool.execute({}, context)).toMatchObject({ content: [{ text: workspace }] });
    expect(reports.at(-1)).toEqual({ mode: "workspace" });
    expect(await run("folder")).not.toBe(workspace);
  });

  test("is inspected there, and a folder outside of it is refused with what to do", async () => {
    const { pool } = createSource();
    const place = createPlace(WORKSPACE, createFolder());
    expect(await inspectServer(createProbingServer(), place, pool, signal)).toMatchObject({ ok: true });
    const outside = createStdioServer(PROBING_SERVER, { cwd: createFolder() });
    expect(await inspectServer(outside, place, pool, signal)).toMatchObject({
      ok: false,
      message: expect.stringMatching(
        /^The MCP server "test" cannot be started: The working directory .* is not part of the sandbox; list it in `readable` or `writable`/,
      ),
    });
  });

  test("receives SIGTERM when it does not end with its input", async () => {
    const { pool } = createSource();
    const workspace = createFolder();
    const path = join(workspace, "term");
    const place = { sandbox: WORKSPACE, workspace };
    await pool.getServer(createProbingServer(undefined, [`on-term=${path}`]), place).getListing(signal);
    await pool.close();
    expect(readFileSync(path, "utf8")).toBe("terminated");
  });

  test("[MCP-09.2] does not outlive a worker that is killed", async () => {
    const folder = createFolder();
    const mark = join(folder, "pids");
    const holder = spawn(process.execPath, [HOLDER, mark, "workspace"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    closing.push(() => holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    expect(findProcesses(`child=${mark}`)).not.toEqual([]);
    holder.kill("SIGKILL");
    await vi.waitFor(() => expect(findProcesses(`child=${mark}`)).toEqual([]), 5000);
  });
});

/** Finds the processes that have the text in their arguments. */
function findProcesses(text: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(text);
    } catch {
      return false;
    }
  });
}

describe("where a sandbox cannot be made", () => {
  test.each([true, false])(
    "no server is started, and the definition is refused with the remedy (required: %s)",
    async (required) => {
      const stage = createSource({ isUnable: true });
      const log = join(createFolder(), "log");
      const server = createProbingServer(undefined, [`log=${log}`], { required });
      const pinning = pin(stage, server, createFolder());
      await expect(pinning).rejects.toThrow(ToolSourceError);
      await expect(pinning).rejects.toThrow(
        /^The MCP server "test" is not started\. The sandbox "workspace" cannot be used .* Mend it\.$/,
      );
      expect(existsSync(log)).toBe(false);
    },
  );

  test("nor is one whose own settings need a sandbox beside one that needs none", async () => {
    const stage = createSource({ fallback: { mode: "off" }, isUnable: true });
    const log = join(createFolder(), "log");
    const mcp = [createProbingServer(undefined, [`log=${log}`]), createProbingServer({ mode: "strict" })];
    const context = { getSecret: () => undefined, workspace: createFolder(), signal, log: stage.log };
    await expect(stage.source.pin({ mcp } as unknown as AgentDefinition, context)).rejects.toThrow(
      'The sandbox "strict"',
    );
    expect(existsSync(log)).toBe(false);
  });

  test("a call that comes to such a host fails with the remedy", async () => {
    const stage = createSource({ isUnable: true });
    const { source, log } = createSource({ fallback: { mode: "off" } });
    const { find } = await pin({ ...stage, source, log }, createProbingServer(), createFolder());
    const pinned = { ...find("count"), data: { server: createProbingServer() } };
    const call = stage.source.createTool(pinned).execute({}, createContext().context);
    await expect(call).rejects.toThrow(ToolError);
    await expect(call).rejects.toThrow(
      /cannot be started: The sandbox "workspace" cannot be used .* Mend it\./,
    );
  });
});

test("without a sandbox, all workspaces share a server, and the reports say that there is none", async () => {
  const stage = createSource({ fallback: { mode: "off" } });
  const server = createProbingServer();
  const [one, other] = [await pin(stage, server, createFolder()), await pin(stage, server, createFolder())];
  expect([await one.run("count"), await other.run("count")]).toEqual(["1", "2"]);
  expect(one.reports).toEqual([{ mode: "off" }, { mode: "off" }]);
});

describe("the text of an exit says what the exit code does not", () => {
  const endings: readonly (readonly [ProcessEnding, string])[] = [
    [{ type: "ran" }, "ended with exit code 3; its last output: words"],
    [{ type: "failed", problem: "it used more than 1 GB" }, "was terminated: it used more than 1 GB"],
    [
      { type: "not-started" },
      "was not started, because its sandbox could not be made; its last output: words",
    ],
    [
      { type: "not-started", problem: "no nsenter" },
      "was not started, because its sandbox could not be made: no nsenter",
    ],
  ];
  test.each(endings)("%j", async (ending, text) => {
    let onExit = (_: string) => {};
    const exited = new Promise<string>((resolve) => {
      onExit = resolve;
    });
    await ServerProcess.start(
      {
        start: async (command) => ({
          ...(await startWithoutSandbox(command)),
          ended: Promise.resolve(ending),
        }),
        command: "/bin/sh",
        args: ["-c", "echo words >&2; exit 3"],
        env: {},
        cwd: "/",
      },
      { onLine: () => {}, onStderrLine: () => {}, onExit },
    );
    expect(await exited).toBe(text);
  });
});
