import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { check } from "../../schema/check.ts";
import { holdsSecret, isLiteralSecret } from "../../schema/headers.ts";
import { McpServer } from "../../schema/mcp.ts";
import type { ForeignServer } from "./find-servers.ts";
import { toVariableName, translateVariables, type VariableContext } from "./translate-variables.ts";

// Converts a server of another program's file to an [[mcp]] table. No secret is copied: a reference to a variable replaces it.

/** An [[mcp]] table. */
export type ServerTable = JsonObject & { readonly name: string };

export type ConvertedServer =
  | { readonly ok: true; readonly table: ServerTable; readonly notes: readonly string[] }
  /** Why the server cannot be used. */
  | { readonly ok: false; readonly problem: string };

/** Names of variables and headers that probably contain secrets. They are more than a definition refuses, which costs nothing. */
const SECRET_NAME =
  /(?:^|[-_])(?:api[-_]?key|key|token|secret|pass|passwd|password|pwd|passphrase|credentials?|auth|authorization|pat|dsn|cookie|signature)(?:[-_]|$)/i;
/** A flag whose value, after `=` or in the next argument, is a secret. */
const SECRET_FLAG =
  /^--?(?:[a-z]+-)*(?:api[-_]?key|key|token|secret|password|passwd|passphrase|credentials?|pat)$/i;
const ADDRESS_WITH_PASSWORD = /:\/\/[^/\s:@]*:[^/\s@]+@/;
/** A long word of letters and digits is a key rather than a name; with hyphens it may be a name. */
const LONG_WORD = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+=]{24,}$/;

/** Keys without an equivalent, with what to write instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  autoApprove: "write `[[permissions.rules]]` for tools that run without approval",
  alwaysAllow: "write `[[permissions.rules]]` for tools that run without approval",
  timeout: "set `timeout_ms`",
  envFile: "set its variables in the worker's environment, and refer to them in `env`",
  auth: "write `auth` as docs/mcp.md says",
  oauth: "write `auth` as docs/mcp.md says",
  headersHelper: "write the headers in `headers`, with secrets as ${NAME}",
};
/** Keys that say nothing that Holdfast needs. */
const IGNORED = ["type", "transport", "disabled", "enabled", "name", "description"];
const SUPPORTED = ["command", "args", "env", "cwd", "url", "headers"];

export function convertServer({ name, table }: ForeignServer, context: VariableContext): ConvertedServer {
  const notes: string[] = [];
  const id = name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 32);
  if (id !== name) notes.push(`it is called "${id}": a name has 1 to 32 letters, digits, - and _`);
  const translate = (text: string): string => {
    const { text: own, notes: found } = translateVariables(text, context);
    notes.push(...found);
    return own;
  };
  const refer = (variable: string, place: string): string => {
    notes.push(`set ${variable} in the worker's environment to the secret in ${place}, which is not copied`);
    return `\${${variable}}`;
  };
  const converted: Record<string, unknown> & { readonly name: string } = { name: id };
  for (const key of ["command", "cwd", "url"] as const) {
    if (typeof table[key] === "string") converted[key] = translate(table[key]);
  }
  if (Array.isArray(table["args"]))
    converted["args"] = convertArguments(table["args"].map(String), id, translate, refer);
  if (isObject(table["env"]))
    converted["env"] = convertTexts(table["env"], (key, value) => {
      const own = translate(value);
      return isSecret(key, own) ? refer(toVariableName(key), `\`env.${key}\``) : own;
    });
  if (isObject(table["headers"]))
    converted["headers"] = convertTexts(table["headers"], (key, value) => {
      const own = translate(value);
      if (!isSecret(key, own)) return own;
      const [scheme = ""] = /^(?:Bearer|Basic|Token)\s+/i.exec(own) ?? [];
      const suffix = /^authorization$/i.test(key) ? "TOKEN" : key;
      return `${scheme}${refer(toVariableName(`${id}_${suffix}`), `\`headers.${key}\``)}`;
    });
  for (const key of Object.keys(table)) {
    if (SUPPORTED.includes(key) ? converted[key] === undefined : !IGNORED.includes(key))
      notes.push(`\`${key}\` is left out: ${UNSUPPORTED[key] ?? "Holdfast has no such setting"}`);
  }
  const type = table["type"] ?? table["transport"];
  if (type === "sse")
    notes.push(
      "it uses the older transport `sse`, and Holdfast speaks streamable HTTP: check it with `holdfast mcp test`, or use the server's newer address",
    );
  const problem = findProblem(converted, type);
  return problem === undefined ? { ok: true, table: removeEmpty(converted), notes } : { ok: false, problem };
}

function convertArguments(
  args: readonly string[],
  id: string,
  translate: (text: string) => string,
  refer: (variable: string, place: string) => string,
): readonly string[] {
  return args.map((written, index) => {
    const word = translate(written);
    const [flag = "", value] = /^(--?[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [];
    if (value !== undefined) {
      const isKey = (SECRET_FLAG.test(flag) && isLiteralSecret(value)) || looksSecret(value);
      return isKey ? `${flag}=${refer(toVariableName(`${id}_${flag}`), `\`args\``)}` : word;
    }
    const before = args[index - 1] ?? "";
    const follows = SECRET_FLAG.test(before) && !word.startsWith("-") && isLiteralSecret(word);
    if (!follows && !looksSecret(word)) return word;
    return refer(toVariableName(`${id}_${follows ? before : `argument_${index + 1}`}`), `\`args\``);
  });
}

function isSecret(name: string, value: string): boolean {
  return (SECRET_NAME.test(name) && isLiteralSecret(value)) || looksSecret(value);
}

function looksSecret(value: string): boolean {
  return holdsSecret(value) || ADDRESS_WITH_PASSWORD.test(value) || LONG_WORD.test(value);
}

function convertTexts(values: JsonObject, convert: (key: string, value: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, convert(key, String(value))]));
}

function removeEmpty<Table extends JsonObject>(table: Table): Table {
  const entries = Object.entries(table).filter(
    ([, value]) => typeof value !== "object" || Object.keys(value as object).length > 0,
  );
  return Object.fromEntries(entries) as Table;
}

/** Checks a server as the definition would. References in an address stand for any text. */
function findProblem(table: JsonObject, type: unknown): string | undefined {
  const { name, command, args, env, cwd, url, headers } = table;
  if ((command === undefined) === (url === undefined))
    return `a server has one of \`command\`, \`url\`, and this one has ${command === undefined ? "neither" : "both"}`;
  if (type === "ws" || type === "websocket") return "Holdfast does not speak MCP over WebSocket";
  const address =
    typeof url === "string" ? url.replace(/^\$\{\w+\}/, "https://host").replace(/\$\{\w+\}/g, "x") : url;
  const transport =
    command === undefined
      ? { type: "http", url: address, headers }
      : { type: "stdio", command, args, env, cwd };
  const defined = Object.fromEntries(Object.entries(transport).filter(([, value]) => value !== undefined));
  const checked = check(McpServer, { name, transport: defined }, "server");
  return checked.ok ? undefined : checked.problems.join("; ").replaceAll("transport.", "");
}
