import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { McpServer } from "../../../src/schema/mcp.ts";
import { McpPool } from "../../../src/tools/sources/mcp/pool.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

export const official = (name: "everything" | "filesystem" | "memory"): string =>
  join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

export const NASTY = join(import.meta.dirname, "nasty-server.mjs");
const ONLY_LOOPBACK = join(import.meta.dirname, "only-loopback.cjs");

export type LogLine = { readonly facts: Record<string, unknown>; readonly message: string };

/** A pool whose log can be looked at. */
export function poolWith(secrets: Record<string, string> = {}): { pool: McpPool; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const keep = (facts: object, message: string) => void lines.push({ facts: { ...facts }, message });
  const log = { debug: keep, info: keep, warn: keep };
  return { pool: new McpPool({ secrets: (name) => secrets[name], version: "0", log }), lines };
}

type Stdio = {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
};

/** A definition of a server that Node runs. */
export function stdio(file: string, { args = [], env = {}, cwd }: Stdio = {}, more: object = {}): McpServer {
  const transport = { type: "stdio", command: process.execPath, args: [file, ...args], env };
  return McpServer.parse({
    name: "test",
    transport: { ...transport, ...(cwd === undefined ? {} : { cwd }) },
    ...more,
  });
}

export function http(url: string, transport: object = {}, more: object = {}): McpServer {
  return McpServer.parse({ name: "test", transport: { type: "http", url, ...transport }, ...more });
}

export function temporaryFolder(): { path: string; remove: () => void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-mcp-")));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** What a tool is given, and what it has told. */
export function context(signal: AbortSignal = new AbortController().signal): {
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
      update: () => {},
      progress: (text) => void progress.push(text),
      spawned: async () => {},
    },
  };
}

export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** A server of streamable HTTP in a process of its own, which listens on loopback only. */
export async function listening(
  file: string,
  args: readonly string[],
): Promise<{ url: string; process: ChildProcess; stop: () => Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.execPath, ["--require", ONLY_LOOPBACK, file, ...args], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}: ${said}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (/listening on port/.test(said)) resolve();
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
