import { basename, dirname, resolve } from "node:path";
import { type ParseError, parse } from "jsonc-parser";
import { asObject, isObject, type JsonObject } from "../../platform/text/json.ts";

// Finds the servers in a file of another program. The forms are those of Claude (claude_desktop_config.json, .mcp.json,
// ~/.claude.json), Cursor (.cursor/mcp.json) and VS Code (.vscode/mcp.json, or `mcp` in settings.json).

/** A server as its file declares it. */
export type ForeignServer = {
  readonly name: string;
  readonly table: JsonObject;
  /** The place in the file, for messages. */
  readonly place: string;
  readonly isDisabled: boolean;
};

export type ForeignFile =
  | {
      readonly ok: true;
      readonly servers: readonly ForeignServer[];
      /** The folder that `${workspaceFolder}` stands for. */
      readonly folder: string;
    }
  | { readonly ok: false; readonly problem: string };

export type FindOptions = {
  /** The absolute path of the file. */
  readonly path: string;
  /** The folder whose servers are read from ~/.claude.json, which has those of all projects. */
  readonly project: string;
};

const EXPECTED = "It needs `mcpServers` (Claude, Cursor) or `servers` (VS Code), a table of servers by name.";

/** Finds all servers of a file's text, which may have comments. */
export function findServers(text: string, { path, project }: FindOptions): ForeignFile {
  const errors: ParseError[] = [];
  const root: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    return { ok: false, problem: `Line ${line} of ${path} is not JSON.` };
  }
  if (!isObject(root)) return { ok: false, problem: `${path} has no servers. ${EXPECTED}` };
  const sources = listSources(root, project);
  if (sources.length === 0) return { ok: false, problem: `${path} has no servers. ${EXPECTED}` };
  const servers = sources.flatMap(({ place, servers: tables, disabled }) =>
    Object.entries(tables).flatMap(([name, table]) =>
      isObject(table)
        ? [{ name, table, place: `${place}.${name}`, isDisabled: isOff(table) || disabled.includes(name) }]
        : [],
    ),
  );
  return { ok: true, servers, folder: findFolder(path) };
}

type Source = {
  readonly place: string;
  readonly servers: JsonObject;
  /** Servers that another key of the file switches off. */
  readonly disabled: readonly unknown[];
};

function listSources(root: JsonObject, project: string): readonly Source[] {
  const settings = asObject(asObject(root["projects"])?.[project]);
  const tables = [
    { place: "mcpServers", holder: root, key: "mcpServers" },
    { place: `projects["${project}"].mcpServers`, holder: settings, key: "mcpServers" },
    { place: "servers", holder: root, key: "servers" },
    { place: "mcp.servers", holder: asObject(root["mcp"]), key: "servers" },
  ];
  return tables.flatMap(({ place, holder, key }) => {
    const servers = asObject(holder?.[key]);
    const disabled = [settings?.["disabledMcpServers"], settings?.["disabledMcpjsonServers"]].flat();
    return servers === undefined ? [] : [{ place, servers, disabled }];
  });
}

function isOff({ disabled, enabled }: JsonObject): boolean {
  return disabled === true || enabled === false;
}

/** Files in `.cursor`, `.vscode` and the like belong to the folder around it. */
function findFolder(path: string): string {
  const folder = dirname(resolve(path));
  return basename(folder).startsWith(".") ? dirname(folder) : folder;
}
