// Stands for a worker: keeps the nasty server and waits to be killed. Runs what is built.
//
//   node holder.mjs FILE-FOR-PIDS
import { join } from "node:path";
import { McpServer } from "../../../dist/schema/mcp.js";
import { McpPool } from "../../../dist/tools/sources/mcp/mcp-pool.js";

const silent = () => {};
const log = { debug: silent, info: silent, warn: silent };
const pool = new McpPool({ secrets: () => undefined, version: "0", log });
const args = [join(import.meta.dirname, "misbehaving-server.mjs"), "stubborn", `child=${process.argv[2]}`];
const server = McpServer.parse({
  name: "held",
  transport: { type: "stdio", command: process.execPath, args },
});
await pool.getServer(server).getListing(new AbortController().signal);
console.log("ready");
setInterval(silent, 1000);
