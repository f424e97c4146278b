import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { McpServer } from "../../../src/schema/mcp.ts";
import { SandboxSettings, type SandboxSettingsInput } from "../../../src/schema/sandbox.ts";
import { Sandboxes } from "../../../src/tools/sandbox/sandboxes.ts";
import { McpPool } from "../../../src/tools/sources/mcp/mcp-pool.ts";
import type { ServerPlace } from "../../../src/tools/sources/mcp/server-place.ts";
import type { ToolContext } from "../../../src/tools/tool-execution.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

export const resolveOfficialServer = (name: "everything" | "filesystem" | "memory"): string =>
  join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

export const MISBEHAVING_SERVER = join(import.meta.dirname, "misbehaving-server.mjs");
const ONLY_LOOPBACK = join(import.meta.dirname, "only-loopback.cjs");

export type LogLine = { readonly facts: Record<string, unknown>; readonly message: string };

/** Where servers run without a sandbox. */
export const OUTSIDE = createPlace({ mode: "off" }, tmpdir());

export function createPlace(sandbox: SandboxSettingsInput, workspace: string): ServerPlace {
  return { sandbox: SandboxSettings.parse(sandbox), workspace };
}

/** Sandboxes of a worker whose default is none. */
export function createSandboxes(): Sandboxes {
  const holdfastHome = join(tmpdir(), "holdfast-home-of-mcp-tests");
  return new Sandboxes({ fallback: OUTSIDE.sandbox, holdfastHome, environment: process.env });
}

/** A pool whose log can be read. */
export function createPool(secrets: Record<string, string> = {}): { pool: McpPool; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const recordLine = (facts: object, message: string) => void lines.push({ facts: { ...facts }, message });
  const log = { debug: recordLine, info: recordLine, warn: recordLine };
  const sandboxes = createSandboxes();
  return { pool: new McpPool({ sandboxes, secrets: (name) => secrets[name], version: "0", log }), lines };
}

type Stdio = {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
};

/** A definition of a server that Node runs. */
export function createStdioServer(
  file: string,
  { args = [], env = {}, cwd }: Stdio = {},
  overrides: object = {},
): McpServer {
  const transport = { type: "stdio", command: process.execPath, args: [file, ...args], env };
  return McpServer.parse({
    name: "test",
    transport: { ...transport, ...(cwd === undefined ? {} : { cwd }) },
    ...overrides,
  });
}

export function createHttpServer(url: string, transport: object = {}, overrides: object = {}): McpServer {
  return McpServer.parse({ name: "test", transport: { type: "http", url, ...transport }, ...overrides });
}

export function createTemporaryFolder(): { path: string; remove: () => void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-mcp-")));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The options of a tool call, and the reports that they collect. */
export function createContext(signal: AbortSignal = new AbortController().signal): {
  context: ToolContext;
  progress: string[];
} {
  const progress: string[] = [];
  return {
    progress,
    context: {
      toolCallId: "call",
      toolName: "tool",
      workspace: tmpdir(),
      idempotencyKey: "key",
      signal,
      onUpdate: () => {},
      onProgress: (text) => void progress.push(text),
      onSpawned: async () => {},
      runCommand: async ({ command }) => {
        throw new Error(`No tool of a server runs ${command}`);
      },
    },
  };
}

export async function findFreePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** A server of streamable HTTP in its own process, which listens only on loopback. */
export async function startListeningServer(
  file: string,
  args: readonly string[],
): Promise<{ url: string; process: ChildProcess; stop: () => Promise<void> }> {
  const port = await findFreePort();
  const child = spawn(process.execPath, ["--require", ONLY_LOOPBACK, file, ...args], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    let output = "";
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}: ${output}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (/listening on port/.test(output)) resolve();
    });
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, process: child, stop };
}
