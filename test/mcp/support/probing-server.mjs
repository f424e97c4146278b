// A server of our own that tries what it can reach: files and, through the proxy, hosts.
//
//   node probing-server.mjs [log=FILE] [on-term=FILE] [child]
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const wanted = new Map(
  process.argv
    .slice(2)
    .map((word) => word.split("="))
    .map(([name, value = ""]) => [name, value]),
);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

if (wanted.has("log")) appendFileSync(wanted.get("log"), "start\n");
if (wanted.has("child")) spawn("sleep", ["1000"], { stdio: "ignore" });
if (wanted.has("on-term")) {
  // Neither the end of the input ends it.
  setInterval(() => {}, 1000);
  process.on("SIGTERM", () => {
    writeFileSync(wanted.get("on-term"), "terminated");
    process.exit(0);
  });
}

/** Opens a tunnel, and resolves to the status line of the proxy's answer. */
const openTunnel = (destination) =>
  new Promise((resolve) => {
    const proxy = process.env.https_proxy;
    if (proxy === undefined) return resolve("no proxy");
    const { hostname, port } = new URL(proxy);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`CONNECT ${destination} HTTP/1.1\r\nHost: ${destination}\r\n\r\n`);
    });
    socket.on("error", (error) => resolve(error.code));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString().split("\r\n")[0]);
    });
  });

let calls = 0;
const tools = {
  read: ({ path }) => readFileSync(path, "utf8"),
  write: ({ path }) => {
    writeFileSync(path, "written");
    return "written";
  },
  folder: () => process.cwd(),
  count: () => String(++calls),
  connect: ({ destination }) => openTunnel(destination),
  /** Connects after the answer. */
  later: ({ destination, path }) => {
    setTimeout(() => void openTunnel(destination).then(() => writeFileSync(path, "connected")), 50);
    return "later";
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "probing", version: "1" },
  }),
  "tools/list": () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })),
  }),
  "resources/list": () => ({ resources: [] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "tools/call": async ({ name, arguments: parameters }) => {
    try {
      return { content: [{ type: "text", text: await tools[name](parameters) }] };
    } catch (error) {
      return { content: [{ type: "text", text: error.code ?? error.message }], isError: true };
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined)
    void Promise.resolve(methods[method]?.(params)).then((result) => send({ id, result }));
}
