// Stands for a worker: keeps the nasty server and waits to be killed. Runs what is built.
//
//   node pool-process.mjs FILE-FOR-PIDS [SANDBOX]
import { tmpdir } from "node:os";
import { join } from "node:path";
import { McpServer } from "../../../dist/schema/mcp.js";
import { SandboxSettings } from "../../../dist/schema/sandbox.js";
import { Sandboxes } from "../../../dist/tools/sandbox/sandboxes.js";
import { McpPool } from "../../../dist/tools/sources/mcp/mcp-pool.js";

const silent = () => {};
const log = { debug: silent, info: silent, warn: silent };
const mode = process.argv[3] ?? "off";
// The repository may be in the folder for temporary files.
const readable = mode === "off" ? [] : [join(import.meta.dirname, "../../..")];
const sandbox = SandboxSettings.parse({ mode, readable });
const workspace = process.cwd();
const sandboxes = new Sandboxes({
  fallback: sandbox,
  holdfastHome: join(tmpdir(), "holdfast-home-of-mcp-tests"),
  environment: {},
});
const pool = new McpPool({ sandboxes, secrets: () => undefined, version: "0", log });
const args = [join(import.meta.dirname, "misbehaving-server.mjs"), "stubborn", `child=${process.argv[2]}`];
const server = McpServer.parse({
  name: "held",
  transport: { type: "stdio", command: process.execPath, args },
});
await pool.getServer(server, { sandbox, workspace }).getListing(new AbortController().signal);
console.log("ready");
setInterval(silent, 1000);
