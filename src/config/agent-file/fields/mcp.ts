import { z } from "zod";
import { McpServer } from "../../../schema/mcp.ts";
import { ReplayClass } from "../../../schema/tool.ts";
import type { Path } from "../../source/node.ts";
import { expecting, type Field, field, must, said, wholeFrom } from "../field.ts";
import { isTable, type Table } from "../table.ts";

// [[mcp]]: servers of the Model Context Protocol. What each key means is in docs/mcp.md.

const DEFAULTS = McpServer.parse({ name: "-", transport: { type: "http", url: "http://-" } });

const Texts = z.record(z.string(), z.string());
const Patterns = z.array(z.string());
const Address = expecting(z.string().min(1), "an address that begins with http:// or https://");
const Reference = expecting(z.string().min(1), "the name of a variable, as ${NAME}");

const Auth = z.strictObject({
  type: must(z.enum(["bearer", "oauth", "oauth-token"]), "How the server is shown who asks."),
  token: said(Reference, "Of `bearer`."),
  client_id: said(z.string(), "Of `oauth`, and of `oauth-token` where it is refreshed."),
  client_secret: said(Reference, "The same."),
  client_auth: said(z.enum(["basic", "post"]), "How the client's secret is sent.", "basic"),
  scope: said(z.string(), "Of `oauth`: what is asked for."),
  access_token: said(Reference, "Of `oauth-token`."),
  refresh_token: said(Reference, "Of `oauth-token`: gets a new one when the server refuses the old one."),
  token_url: said(Address, "Where tokens are given out."),
  issuer: said(Address, "Whose published description says where tokens are given out."),
});

const Server = z.strictObject({
  name: must(
    expecting(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/), "1 to 32 letters, digits, - or _"),
    "What people call it, and what the names of its tools begin with.",
  ),
  command: said(z.string().min(1), "A program that is started and spoken to over its input and output."),
  args: said(z.array(z.string()), "Its arguments, which other processes can see.", []),
  env: said(Texts, "Its environment, beside PATH, HOME and the like. Secrets as ${NAME}.", {}),
  cwd: said(z.string().min(1), "The folder that it is started in; the worker's unless said."),
  url: said(Address, "Instead of a program: a server that is spoken to over HTTP."),
  headers: said(Texts, "Sent with each request. Secrets as ${NAME}.", {}),
  auth: said(Auth, "What the server is shown with each request."),
  prefix: said(z.string(), "A tool is PREFIX__NAME; the server's name unless said, none when empty."),
  include: said(Patterns, "Tools that are offered, as the server calls them; `*` stands for any letters."),
  exclude: said(Patterns, "Tools that are not.", []),
  replay: said(z.record(z.string(), ReplayClass), "What a second execution means, by tool or pattern.", {}),
  confirm: said(Patterns, "Tools before whose calls a person is asked.", []),
  trusted: said(z.boolean(), "What the server says about the safety of its tools is believed.", false),
  timeout_ms: said(wholeFrom(1), "For one request; progress begins it anew.", DEFAULTS.timeoutMs),
  max_timeout_ms: said(wholeFrom(1), "However much progress there is.", 600_000),
  start_timeout_ms: said(wholeFrom(1), "For the first answer after a start; `timeout_ms` unless said."),
  idle_ms: said(wholeFrom(1), "Without a request for so long it is ended.", DEFAULTS.idleMs),
  concurrency: said(wholeFrom(1, 64), "Requests that it is given at the same time.", 1),
  required: said(z.boolean(), "Without it the agent does not begin; else it works without its tools.", true),
  resources: said(z.boolean(), "Two tools list and read its resources.", false),
  sampling: said(z.boolean(), "It may have a model asked.", false),
  elicitation: said(z.boolean(), "It may ask a person while a tool runs.", true),
});

export const MCP_FIELDS: readonly Field[] = [
  field("mcp", "mcp", said(z.array(Server), "Servers of the Model Context Protocol; see docs/mcp.md."), {
    read: (value) => (Array.isArray(value) ? value.map(serverOf) : value),
    write: (value) => (value as readonly McpServer[]).map(written),
  }),
];

/** Keys whose references stay references: the worker puts the values in. */
const WITH_REFERENCES = ["args", "env", "headers", "auth"];

export function isMcpReference(path: Path): boolean {
  const at = path.indexOf("mcp");
  return at >= 0 && typeof path[at + 1] === "number" && WITH_REFERENCES.includes(String(path[at + 2]));
}

const STDIO = ["command", "args", "env", "cwd"];
const HTTP = ["url", "headers", "auth"];

function serverOf(value: unknown): unknown {
  if (!isTable(value)) return value;
  const ofProgram = STDIO.some((key) => value[key] !== undefined) && value["url"] === undefined;
  const keys = [...STDIO, ...HTTP].filter((key) => value[key] !== undefined);
  const transport = Object.fromEntries(
    keys.map((key) => [key, key === "auth" && isTable(value[key]) ? renamed(value[key], camel) : value[key]]),
  );
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
  return { ...renamed(rest, camel), transport: { type: ofProgram ? "stdio" : "http", ...transport } };
}

function written(server: McpServer): Table {
  const { name, transport, ...rest } = server;
  const { type: _, ...place } = transport;
  const defaults: Table = { ...DEFAULTS, args: [], env: {}, headers: {} };
  const said = Object.entries({ ...place, ...rest }).filter(
    ([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(defaults[key]),
  );
  const table: Record<string, unknown> = { name, ...renamed(Object.fromEntries(said), snake) };
  if (isTable(table["auth"])) table["auth"] = renamed(table["auth"], snake);
  return table;
}

function renamed(table: Table, rename: (key: string) => string): Table {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [rename(key), value]));
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
