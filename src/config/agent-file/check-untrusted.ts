import { isObject, type JsonObject } from "../../platform/text/json.ts";
import type { Problem } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import { WORKER_SANDBOX } from "./fields/sandbox.ts";
import { getAt, getListAt } from "./table-paths.ts";
import { isSecretField } from "./validate-file.ts";

// An agent file is trusted like a Makefile: it chooses the files that are read into a prompt, the variables whose values
// are sent, and the addresses that receive them. This check is for files from untrusted sources: such a file may refer
// only to the variables that hold vendor keys, and only if the key goes to the vendor itself. Of the sandbox it may only
// state the strictest: the user's own settings may be stricter than any other.

const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;
const ADDRESSES = ["base_url", "url"];

/** Finds references to variables that an untrusted file may not use. `readTextOrFile` rejects references to files. */
export function findForbiddenReferences(source: SourceFile): readonly Problem[] {
  const describeProblem = (path: Path, message: string): Problem =>
    source.createProblem(path, { kind: "invalid-field", severity: "error", message });
  return listTexts(source.value, []).flatMap(({ path, text }) => {
    if (!isSecretField(path)) {
      if (!source.variables.has(formatPath(path))) return [];
      return [describeProblem(path, "reads an environment variable, which an untrusted file must not do")];
    }
    if (!REFERENCE.test(text)) return [];
    if (path.at(-1) === "api_key" && !hasAddress(source, path.slice(0, -1))) return [];
    return [
      describeProblem(
        path,
        "sends an environment variable to an address that the file specifies, which an untrusted file must not do",
      ),
    ];
  });
}

/** Finds tables of an untrusted file that state a sandbox, other than the strictest without additions. */
export function findForbiddenSandboxes(source: SourceFile): readonly Problem[] {
  return listSandboxes(source.value).flatMap(({ path, value }) => {
    if (value === "strict" || value === WORKER_SANDBOX) return [];
    const message =
      'chooses what processes may reach, which an untrusted file must not do: remove it, or write "strict" alone';
    const about = { kind: "invalid-field", severity: "error", expected: '"strict", or no sandbox' } as const;
    if (!isObject(value)) return [source.createProblem(path, { ...about, message })];
    const additions = Object.keys(value).filter((key) => key !== "mode");
    if (value["mode"] !== "strict") {
      const at = value["mode"] === undefined ? path : [...path, "mode"];
      return [source.createProblem(at, { ...about, message })];
    }
    return additions.map((key) => source.createProblem([...path, key], { ...about, message }));
  });
}

type Sandbox = { readonly path: Path; readonly value: unknown };

/** Lists what states a sandbox: the file, its agents and sub-agents, and servers of each. */
function listSandboxes(file: JsonObject): readonly Sandbox[] {
  const tables = [
    { path: [] as Path, value: file as unknown },
    ...["agent", "sub_agents"].flatMap((key) =>
      getListAt(file, [key, "instances"]).map((value, index) => ({
        path: [key, "instances", index] as Path,
        value,
      })),
    ),
  ];
  const servers = tables.flatMap(({ path, value }) =>
    getListAt(value, ["mcp"]).map((server, index) => ({ path: [...path, "mcp", index], value: server })),
  );
  return [...tables, ...servers].flatMap(({ path, value }) => {
    const stated = getAt(value, ["sandbox"]);
    return stated === undefined ? [] : [{ path: [...path, "sandbox"], value: stated }];
  });
}

/** Checks whether a provider, or a table around it, specifies an address. */
function hasAddress(source: SourceFile, path: Path): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const table = getAt(source.value, path.slice(0, length));
    if (
      isObject(table) &&
      (ADDRESSES.some((key) => table[key] !== undefined) || containsAddress(table["model"]))
    ) {
      return true;
    }
  }
  return false;
}

function containsAddress(value: unknown): boolean {
  return isObject(value) && ADDRESSES.some((key) => value[key] !== undefined);
}

type Text = { readonly path: Path; readonly text: string };

function listTexts(value: unknown, path: Path): readonly Text[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTexts(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => listTexts(item, [...path, key]));
}
