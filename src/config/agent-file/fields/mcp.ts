import { z } from "zod";
import { isObject, type JsonObject } from "../../../platform/text/json.ts";
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
import { parseSandbox, ServerSandbox } from "./sandbox.ts";

// [[mcp]]: servers of the Model Context Protocol. docs/mcp.md describes the keys.

const DEFAULTS = McpServer.parse({ name: "-", transport: { type: "http", url: "http://-" } });

const Texts = z.record(z.string(), z.string());
const Patterns = z.array(z.string());
const Address = withExpected(z.string().min(1), "an address that begins with http:// or https://");
const Reference = withExpected(z.string().min(1), "the name of a variable, as ${NAME}");

const Auth = z.strictObject({
  type: describeRequiredKey(z.enum(["bearer", "oauth", "oauth-token"]), "How requests are authenticated."),
  token: describeKey(Reference, "The token of `bearer`."),
  client_id: describeKey(
    z.string(),
    "The client id of `oauth`, and of `oauth-token` if its token is refreshed.",
  ),
  client_secret: describeKey(Reference, "The client secret, for the same types as `client_id`."),
  client_auth: describeKey(z.enum(["basic", "post"]), "How the client secret is sent.", "basic"),
  scope: describeKey(z.string(), "The requested scope of `oauth`."),
  access_token: describeKey(Reference, "The access token of `oauth-token`."),
  refresh_token: describeKey(
    Reference,
    "The refresh token of `oauth-token`: it gets a new access token when the server rejects the old one.",
  ),
  token_url: describeKey(Address, "The address that issues tokens."),
  issuer: describeKey(Address, "The issuer whose published metadata contains the token address."),
});

const ServerTable = z.strictObject({
  name: describeRequiredKey(
    withExpected(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/), "1 to 32 letters, digits, - or _"),
    "Its name for users, and the prefix of its tools.",
  ),
  command: describeKey(
    z.string().min(1),
    "A program that the worker starts and communicates with over standard input and output.",
  ),
  args: describeKey(z.array(z.string()), "Its arguments. Other processes can read them.", []),
  env: describeKey(
    Texts,
    "Its environment, in addition to PATH, HOME and similar variables. Secrets as ${NAME}.",
    {},
  ),
  cwd: describeKey(z.string().min(1), "The folder in which it starts; the worker's by default."),
  sandbox: describeKey(
    ServerSandbox,
    "The sandbox in which the program runs: a mode, or a table like [sandbox]; by default that of the agent.",
  ),
  url: describeKey(Address, "Instead of a program: the address of a server that uses HTTP."),
  headers: describeKey(Texts, "Sent with each request. Secrets as ${NAME}.", {}),
  auth: describeKey(Auth, "The authentication of each request."),
  prefix: describeKey(
    z.string(),
    "A tool is named PREFIX__NAME; by default the server's name, no prefix if empty.",
  ),
  include: describeKey(
    Patterns,
    "Tools that the model is offered, by the server's names; `*` matches any characters.",
  ),
  exclude: describeKey(Patterns, "Tools that the model is not offered.", []),
  replay: describeKey(
    z.record(z.string(), ReplayClass),
    "The effect of a second execution, by tool or pattern.",
    {},
  ),
  confirm: describeKey(Patterns, "Tools whose calls need a user's approval.", []),
  trusted: describeKey(
    z.boolean(),
    "Whether the server's statements about the safety of its tools are trusted.",
    false,
  ),
  timeout_ms: describeKey(
    integerFrom(1),
    "The time limit of one request; a progress report restarts it.",
    DEFAULTS.timeoutMs,
  ),
  max_timeout_ms: describeKey(
    integerFrom(1),
    "The time limit of one request, regardless of progress.",
    600_000,
  ),
  start_timeout_ms: describeKey(
    integerFrom(1),
    "The time limit of the first answer after a start; `timeout_ms` by default.",
  ),
  idle_ms: describeKey(
    integerFrom(1),
    "A server without a request for this long is stopped.",
    DEFAULTS.idleMs,
  ),
  concurrency: describeKey(integerFrom(1, 64), "The maximum number of concurrent requests.", 1),
  required: describeKey(
    z.boolean(),
    "The agent does not start without this server; otherwise it works without the server's tools.",
    true,
  ),
  resources: describeKey(z.boolean(), "Adds two tools that list and read its resources.", false),
  sampling: describeKey(z.boolean(), "The server may request answers from a model.", false),
  elicitation: describeKey(z.boolean(), "The server may ask a user while a tool runs.", true),
});

const Server = ServerTable.superRefine(({ command, url }, context) => {
  const [isProgram, usesHttp] = [command !== undefined, url !== undefined];
  if (isProgram !== usesHttp) return;
  context.addIssue({
    code: "custom",
    path: [isProgram ? "url" : "command"],
    message: isProgram
      ? "a server has one of `command`, `url`, and this one has both: remove `url` for a program that the worker starts, or `command` for a server that uses HTTP"
      : "a server has one of `command`, `url`, and this one has neither: add `command` for a program that the worker starts, or `url` for a server that uses HTTP",
  });
});

const Servers = withExpected(z.array(Server), "a list of servers, each in an [[mcp]] table with its `name`");

export const MCP_FIELDS: readonly Field[] = [
  defineField("mcp", "mcp", describeKey(Servers, "Servers of the Model Context Protocol; see docs/mcp.md."), {
    read: (value) => (Array.isArray(value) ? value.map(parseServer) : value),
    write: (value) => (value as readonly McpServer[]).map(formatServer),
  }),
];

/** Keys whose references stay references: the worker inserts the values. */
const WITH_REFERENCES = ["args", "env", "headers", "auth"];

export function isMcpReference(path: Path): boolean {
  // `mcpServers` and tables instead of a list are mistakes, whose secrets are hidden all the same.
  const at = path.findIndex((step) => step === "mcp" || step === "mcpServers");
  return at >= 0 && WITH_REFERENCES.includes(String(path[at + 2]));
}

const STDIO = ["command", "args", "env", "cwd", "sandbox"];
const HTTP = ["url", "headers", "auth"];

function parseServer(value: unknown): unknown {
  if (!isObject(value)) return value;
  const isProgram = STDIO.some((key) => value[key] !== undefined) && value["url"] === undefined;
  const keys = [...STDIO, ...HTTP].filter((key) => value[key] !== undefined);
  const transport = Object.fromEntries(keys.map((key) => [key, convertTransportKey(key, value[key])]));
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
  return {
    ...renameKeys(rest, toCamelCase),
    transport: { type: isProgram ? "stdio" : "http", ...transport },
  };
}

function convertTransportKey(key: string, value: unknown): unknown {
  if (key === "sandbox") return renameBounds(parseSandbox(value), toCamelCase);
  return key === "auth" && isObject(value) ? renameKeys(value, toCamelCase) : value;
}

function formatServer(server: McpServer): JsonObject {
  const { name, transport, ...rest } = server;
  const { type: _, ...place } = transport;
  const defaults: JsonObject = { ...DEFAULTS, args: [], env: {}, headers: {} };
  const changed = Object.entries({ ...place, ...rest }).filter(
    ([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(defaults[key]),
  );
  const table: Record<string, unknown> = { name, ...renameKeys(Object.fromEntries(changed), toSnakeCase) };
  if (isObject(table["auth"])) table["auth"] = renameKeys(table["auth"], toSnakeCase);
  if (table["sandbox"] !== undefined) table["sandbox"] = renameBounds(table["sandbox"], toSnakeCase);
  return table;
}

/** Renames the only keys of a sandbox that have several words. */
function renameBounds(sandbox: unknown, rename: (key: string) => string): unknown {
  if (!isObject(sandbox) || !isObject(sandbox["bounds"])) return sandbox;
  return { ...sandbox, bounds: renameKeys(sandbox["bounds"], rename) };
}

function renameKeys(table: JsonObject, rename: (key: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [rename(key), value]));
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
