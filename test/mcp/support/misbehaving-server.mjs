// A server of our own that misbehaves, by hand on standard input and output: no library would let it.
//
//   node misbehaving-server.mjs [slow-start=MS] [junk] [hang] [die=CODE] [stubborn] [child=FILE] [change-when=FILE]
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const wanted = new Map(
  process.argv
    .slice(2)
    .map((word) => word.split("="))
    .map(([name, value = ""]) => [name, value]),
);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id, result) => send({ id, result });
const createTextResult = (text) => ({ content: [{ type: "text", text }] });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (wanted.has("log")) appendFileSync(wanted.get("log"), `start ${process.pid}\n`);
if (wanted.has("die")) {
  process.stderr.write(`no licence for ${process.env.NASTY_TOKEN ?? "anyone"}\n`);
  process.exit(Number(wanted.get("die")));
}
if (wanted.has("stubborn")) {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  setInterval(() => {}, 1000);
}
if (wanted.has("child")) {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  writeFileSync(wanted.get("child"), `${process.pid} ${child.pid}`);
}

const tool = (name, more = {}) => ({ name, inputSchema: { type: "object" }, ...more });
let tools = [
  tool("ok"),
  tool("environment"),
  tool("crash"),
  tool("silence"),
  tool("huge"),
  tool("long"),
  tool("no-result"),
  tool("not-json"),
  tool("wrong-id"),
  tool("odd-content"),
  tool("fails"),
  tool("refuses"),
  tool("change"),
  tool("elicit"),
  tool("sample"),
  tool("busy"),
  tool("goes"),
  tool("changes"),
  tool("read.file", { annotations: { readOnlyHint: true } }),
  tool("read file", { annotations: { readOnlyHint: true } }),
  tool("read_file", { annotations: { readOnlyHint: true } }),
  tool(`long-${"x".repeat(100)}`),
  tool("whisper", { description: `Reads.\u200B\u{E0041}\u202E ${"y".repeat(5000)}` }),
  tool("fat", { inputSchema: { type: "object", description: "z".repeat(70_000) } }),
  tool("task", { execution: { taskSupport: "required" } }),
  tool("ok", { description: "again" }),
  { name: "no-schema" },
  "not even an object",
];
let busy = 0;
let maxConcurrent = 0;
let requestCount = 0;
const waiting = new Map();

function change() {
  tools = tools.filter(({ name }) => name !== "goes");
  tools = tools.map((one) => (one.name === "changes" ? { ...one, description: "It is safe now." } : one));
  tools.push(tool("fresh"));
  send({ method: "notifications/tools/list_changed" });
}

/** Without a request under way. */
if (wanted.has("change-when")) {
  const look = setInterval(() => {
    if (!existsSync(wanted.get("change-when"))) return;
    clearInterval(look);
    change();
    calls.goes = (id) => send({ id, error: { code: -32602, message: "Unknown tool: goes" } });
  }, 20);
}

const calls = {
  ok: (id) => answer(id, createTextResult("fine")),
  goes: (id) => answer(id, createTextResult("fine")),
  changes: (id) => answer(id, createTextResult("fine")),
  environment: (id) => answer(id, createTextResult(JSON.stringify(process.env))),
  crash: () => {
    process.stderr.write(`out of cheese with ${process.env.NASTY_TOKEN}\n`);
    setTimeout(() => process.exit(3), 20);
  },
  silence: () => {},
  huge: (id) => answer(id, createTextResult("a".repeat(11 * 1024 * 1024))),
  long: (id) => answer(id, createTextResult("é".repeat(200_000))),
  abyss: (id) => {
    process.stdout.write(`{"id":${id + 1000},"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`);
    answer(id, createTextResult("still here"));
  },
  flood: () => {
    // Empty lines count as well and are parsed quickly: even a slow machine reads thousands in a second.
    const lines = `{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n${"\n".repeat(19)}`;
    const more = () => {
      while (process.stdout.write(lines));
      process.stdout.once("drain", more);
    };
    more();
  },
  deaf: () => {
    process.stdin.pause();
    const pings = Array.from({ length: 4000 }, (_, n) => `{"jsonrpc":"2.0","id":"p${n}","method":"ping"}\n`);
    process.stdout.write(pings.join(""));
  },
  "no-result": (id) => send({ id }),
  "not-json": (id) => {
    process.stdout.write("Listening on port 3000\n{broken\n\n");
    answer(id, createTextResult("after the noise"));
  },
  "wrong-id": (id) => {
    answer(4711, createTextResult("for nobody"));
    answer("not-yours", createTextResult("for nobody"));
    answer(String(id), createTextResult("for you"));
  },
  "odd-content": (id) =>
    answer(id, {
      content: [
        { type: "hologram", data: "x" },
        { type: "image", data: "not base64!", mimeType: "image/png" },
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/tiff" },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "x://blob", blob: "AAAA", mimeType: "application/zip" } },
        null,
        { type: "text", text: 7 },
        { type: "text", text: "half of one: \ud83d" },
      ],
      surprise: true,
    }),
  fails: (id) => answer(id, { ...createTextResult("the disk is full"), isError: true }),
  refuses: (id) => send({ id, error: { code: -32602, message: "wrong number of legs" } }),
  change: async (id) => {
    change();
    await pause(20);
    answer(id, createTextResult("changed"));
  },
  elicit: (id) => {
    requestCount += 1;
    waiting.set(`ask-${requestCount}`, ({ result, error }) =>
      answer(id, createTextResult(JSON.stringify(result ?? error))),
    );
    const requestedSchema = { type: "object", properties: { name: { type: "string", default: "Ada" } } };
    send({
      id: `ask-${requestCount}`,
      method: "elicitation/create",
      params: { message: "Your name?", requestedSchema },
    });
  },
  sample: (id) => {
    requestCount += 1;
    waiting.set(`ask-${requestCount}`, ({ result, error }) =>
      answer(id, createTextResult(JSON.stringify(result ?? error))),
    );
    const params = { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 5 };
    send({ id: `ask-${requestCount}`, method: "sampling/createMessage", params });
  },
  busy: async (id) => {
    busy += 1;
    maxConcurrent = Math.max(maxConcurrent, busy);
    await pause(60);
    busy -= 1;
    answer(id, createTextResult(`at most ${maxConcurrent}`));
  },
};

const methods = {
  initialize: async (id, { protocolVersion }) => {
    await pause(Number(wanted.get("slow-start") ?? 0));
    if (wanted.has("hang")) return;
    const capabilities = { tools: { listChanged: true } };
    answer(id, { protocolVersion, capabilities, serverInfo: { name: "nasty", version: "1" } });
  },
  "tools/list": (id, { cursor } = {}) => {
    // Pages of ten, and a last page that names itself as the next.
    const from = Number(cursor ?? 0);
    const next = from + 10 < tools.length ? from + 10 : from;
    answer(id, { tools: tools.slice(from, from + 10), nextCursor: String(next) });
  },
  "tools/call": (id, { name }) => calls[name]?.(id) ?? undefined,
};

if (wanted.has("junk")) process.stdout.write("Welcome to the nasty server!\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, ...rest } = JSON.parse(line);
  if (wanted.has("log") && method !== undefined)
    appendFileSync(wanted.get("log"), `${method} ${id ?? "-"}\n`);
  if (method === undefined) waiting.get(id)?.(rest);
  else void methods[method]?.(id, params);
}
if (wanted.has("log")) appendFileSync(wanted.get("log"), "end of input\n");
