import { z } from "zod";
import { McpServer } from "../../../schema/mcp.ts";
import { ReplayClass } from "../../../schema/tool.ts";
import type { Path } from "../../source/source-node.ts";
import {
  defineField,
  describeKey,
  describeRequiredKey,
  type Field,
  integerFrom,
  withExpected,
} from "../define-field.ts";
import { isTable, type Table } from "../table-paths.ts";

// [[mcp]]: servers of the Model Context Protocol. What each key means is in docs/mcp.md.

const DEFAULTS = McpServer.parse({ name: "-", transport: { type: "http", url: "http://-" } });

const Texts = z.record(z.string(), z.string());
const Patterns = z.array(z.string());
const Address = withExpected(z.string().min(1), "an address that begins with http:// or https://");
const Reference = withExpected(z.string().min(1), "the name of a variable, as ${NAME}");

const Auth = z.strictObject({
  type: describeRequiredKey(z.enum(["bearer", "oauth", "oauth-token"]), "How the server is shown who asks."),
  token: describeKey(Reference, "Of `bearer`."),
  client_id: describeKey(z.string(), "Of `oauth`, and of `oauth-token` where it is refreshed."),
  client_secret: describeKey(Reference, "The same."),
  client_auth: describeKey(z.enum(["basic", "post"]), "How the client's secret is sent.", "basic"),
  scope: describeKey(z.string(), "Of `oauth`: what is asked for."),
  access_token: describeKey(Reference, "Of `oauth-token`."),
  refresh_token: describeKey(
    Reference,
    "Of `oauth-token`: gets a new one when the server refuses the old one.",
  ),
  token_url: describeKey(Address, "Where tokens are given out."),
  issuer: describeKey(Address, "Whose published description says where tokens are given out."),
});

const Server = z.strictObject({
  name: describeRequiredKey(
    withExpected(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/), "1 to 32 letters, digits, - or _"),
    "What people call it, and what the names of its tools begin with.",
  ),
  command: describeKey(
    z.string().min(1),
    "A program that is started and spoken to over its input and output.",
  ),
  args: describeKey(z.array(z.string()), "Its arguments, which other processes can see.", []),
  env: describeKey(Texts, "Its environment, beside PATH, HOME and the like. Secrets as ${NAME}.", {}),
  cwd: describeKey(z.string().min(1), "The folder that it is started in; the worker's unless said."),
  url: describeKey(Address, "Instead of a program: a server that is spoken to over HTTP."),
  headers: describeKey(Texts, "Sent with each request. Secrets as ${NAME}.", {}),
  auth: describeKey(Auth, "What the server is shown with each request."),
  prefix: describeKey(z.string(), "A tool is PREFIX__NAME; the server's name unless said, none when empty."),
  include: describeKey(
    Patterns,
    "Tools that are offered, as the server calls them; `*` stands for any letters.",
  ),
  exclude: describeKey(Patterns, "Tools that are not.", []),
  replay: describeKey(
    z.record(z.string(), ReplayClass),
    "What a second execution means, by tool or pattern.",
    {},
  ),
  confirm: describeKey(Patterns, "Tools before whose calls a person is asked.", []),
  trusted: describeKey(z.boolean(), "What the server says about the safety of its tools is believed.", false),
  timeout_ms: describeKey(integerFrom(1), "For one request; progress begins it anew.", DEFAULTS.timeoutMs),
  max_timeout_ms: describeKey(integerFrom(1), "However much progress there is.", 600_000),
  start_timeout_ms: describeKey(
    integerFrom(1),
    "For the first answer after a start; `timeout_ms` unless said.",
  ),
  idle_ms: describeKey(integerFrom(1), "Without a request for so long it is ended.", DEFAULTS.idleMs),
  concurrency: describeKey(integerFrom(1, 64), "Requests that it is given at the same time.", 1),
  required: describeKey(
    z.boolean(),
    "Without it the agent does not begin; else it works without its tools.",
    true,
  ),
  resources: describeKey(z.boolean(), "Two tools list and read its resources.", false),
  sampling: describeKey(z.boolean(), "It may have a model asked.", false),
  elicitation: describeKey(z.boolean(), "It may ask a person while a tool runs.", true),
});

export const MCP_FIELDS: readonly Field[] = [
  defineField(
    "mcp",
    "mcp",
    describeKey(z.array(Server), "Servers of the Model Context Protocol; see docs/mcp.md."),
    {
      read: (value) => (Array.isArray(value) ? value.map(parseServer) : value),
      write: (value) => (value as readonly McpServer[]).map(formatServer),
    },
  ),
];

/** Keys whose references stay references: the worker puts the values in. */
const WITH_REFERENCES = ["args", "env", "headers", "auth"];

export function isMcpReference(path: Path): boolean {
  const at = path.indexOf("mcp");
  return at >= 0 && typeof path[at + 1] === "number" && WITH_REFERENCES.includes(String(path[at + 2]));
}

const STDIO = ["command", "args", "env", "cwd"];
const HTTP = ["url", "headers", "auth"];

function parseServer(value: unknown): unknown {
  if (!isTable(value)) return value;
  const isProgram = STDIO.some((key) => value[key] !== undefined) && value["url"] === undefined;
  const keys = [...STDIO, ...HTTP].filter((key) => value[key] !== undefined);
  const transport = Object.fromEntries(
    keys.map((key) => [
      key,
      key === "auth" && isTable(value[key]) ? renameKeys(value[key], toCamelCase) : value[key],
    ]),
  );
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
  return {
    ...renameKeys(rest, toCamelCase),
    transport: { type: isProgram ? "stdio" : "http", ...transport },
  };
}

function formatServer(server: McpServer): Table {
  const { name, transport, ...rest } = server;
  const { type: _, ...place } = transport;
  const defaults: Table = { ...DEFAULTS, args: [], env: {}, headers: {} };
  const changed = Object.entries({ ...place, ...rest }).filter(
    ([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(defaults[key]),
  );
  const table: Record<string, unknown> = { name, ...renameKeys(Object.fromEntries(changed), toSnakeCase) };
  if (isTable(table["auth"])) table["auth"] = renameKeys(table["auth"], toSnakeCase);
  return table;
}

function renameKeys(table: Table, rename: (key: string) => string): Table {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [rename(key), value]));
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
