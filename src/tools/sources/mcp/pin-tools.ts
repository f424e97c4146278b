import { createHash } from "node:crypto";
import { matchNameGlob } from "../../../platform/text/glob.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import type { ReplayClass } from "../../../schema/tool.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import { sanitiseText } from "../sanitise-text.ts";
import { toToolName } from "../tool-names.ts";
import type { RemoteTool, ToolHints } from "./mcp-connection.ts";

// Converts a server's list of tools to pinned tools. Servers are untrusted: names are made valid, texts are
// limited, and declarations about safety count only if the definition trusts the server.

/** The limit for the description of one tool. Longer ones are cut. */
const MAX_DESCRIPTION_CHARS = 4096;

/** The limit for a tool's name, as the server sends it; the protocol specifies 128. */
const MAX_NAME_CHARS = 512;

/** A schema is sent with every request to the model. A tool with a larger one is skipped. */
const MAX_SCHEMA_BYTES = 64 * 1024;

/** The limit for all schemas of a server together. */
const MAX_SCHEMAS_BYTES = 512 * 1024;

/** The most tools of one server that an agent gets. */
const MAX_TOOLS = 256;

export type PinnedToolList = {
  readonly tools: readonly PinnedTool[];
  /** What was skipped or changed, one sentence each. */
  readonly warnings: readonly string[];
};

/** Returns the tools of a server as an agent with this definition gets them. */
export function pinTools(server: McpServer, remote: readonly RemoteTool[]): PinnedToolList {
  const warnings: string[] = [];
  const described = (tool: Pick<RemoteTool, "name">) =>
    `The tool ${sanitiseText(tool.name, 100)} of the MCP server ${server.name}`;
  const byName = new Map<string, RemoteTool>();
  let bytes = 0;
  for (const tool of remote) {
    if (!isIncluded(server, tool.name)) continue;
    if (tool.name.length > MAX_NAME_CHARS) {
      warnings.push(`${described(tool)} is skipped: its name has more than ${MAX_NAME_CHARS} characters`);
      continue;
    }
    const size = measureBytes(tool.inputSchema);
    if (byName.has(tool.name)) warnings.push(`${described(tool)} is offered twice; the first one is used`);
    else if (tool.needsTask) warnings.push(`${described(tool)} is skipped: it can only be called as a task`);
    else if (size > MAX_SCHEMA_BYTES) {
      warnings.push(`${described(tool)} is skipped: its schema has more than ${MAX_SCHEMA_BYTES} bytes`);
    } else if (bytes + size > MAX_SCHEMAS_BYTES) {
      warnings.push(
        `${described(tool)} is skipped: all schemas together have more than ${MAX_SCHEMAS_BYTES} bytes`,
      );
    } else {
      byName.set(tool.name, tool);
      bytes += size;
    }
  }
  const included = [...byName.values()];
  if (included.length > MAX_TOOLS) {
    const more = included.length - MAX_TOOLS;
    warnings.push(`The MCP server ${server.name} offers ${more} tools beyond the limit of ${MAX_TOOLS}`);
  }
  warnings.push(...findUnmatchedPatterns(server, remote));
  const names = assignNames(server, included.slice(0, MAX_TOOLS));
  const tools = included.slice(0, MAX_TOOLS).map((tool): PinnedTool => {
    const { text, isCut } = formatDescription(tool);
    if (isCut)
      warnings.push(
        `${described(tool)} has a long description, which was cut to ${MAX_DESCRIPTION_CHARS} characters`,
      );
    return {
      source: "mcp",
      from: server.name,
      remote: tool.name,
      name: names.get(tool.name) ?? tool.name,
      description: text,
      parameters: toParameters(tool),
      replay: selectReplayClass(server, tool),
      ...(server.confirm.some((pattern) => matchNameGlob(pattern, tool.name)) ? { confirm: true } : {}),
      hash: hashTool(tool),
    };
  });
  return { tools, warnings };
}

/** Hashes everything that a server declares about a tool. */
export function hashTool(tool: RemoteTool): string {
  return createHash("sha256")
    .update(JSON.stringify(sortKeys(tool)))
    .digest("hex");
}

function isIncluded({ include, exclude }: McpServer, name: string): boolean {
  const fits = (pattern: string) => matchNameGlob(pattern, name);
  return (include === undefined || include.some(fits)) && !exclude.some(fits);
}

/** Finds patterns of the definition that match no tool: a misspelling, or a tool that was removed. */
function findUnmatchedPatterns(
  { name, include = [], exclude, confirm, replay }: McpServer,
  remote: readonly RemoteTool[],
) {
  const lists = { include, exclude, confirm, replay: Object.keys(replay) };
  return Object.entries(lists).flatMap(([list, patterns]) =>
    patterns
      .filter((pattern) => !remote.some((tool) => matchNameGlob(pattern, tool.name)))
      .map(
        (pattern) => `${list} of the MCP server ${name} names "${pattern}", which matches none of its tools`,
      ),
  );
}

/** Assigns a name to each tool. Two equal names get a suffix each, independent of the order in which the tools arrive. */
function assignNames(server: McpServer, tools: readonly RemoteTool[]): ReadonlyMap<string, string> {
  const { prefix = server.name } = server;
  const plain = (tool: RemoteTool) => toToolName(prefix === "" ? tool.name : `${prefix}__${tool.name}`);
  const counts = new Map<string, number>();
  for (const tool of tools) counts.set(plain(tool), (counts.get(plain(tool)) ?? 0) + 1);
  return new Map(
    tools.map((tool) => {
      const name = plain(tool);
      const asIs = /^[A-Za-z0-9_-]+$/.test(tool.name);
      if (asIs || counts.get(name) === 1) return [tool.name, name];
      const mark = createHash("sha256").update(tool.name).digest("hex").slice(0, 8);
      return [tool.name, toToolName(`${name.slice(0, 55)}_${mark}`)];
    }),
  );
}

/**
 * Selects the replay class: from the definition, else from a trusted server, else `unsafe`.
 * A tool that declares both that it only reads and that it is destructive is not trusted.
 */
function selectReplayClass(server: Pick<McpServer, "replay" | "trusted">, tool: RemoteTool): ReplayClass {
  const patterns = Object.keys(server.replay).filter((pattern) => matchNameGlob(pattern, tool.name));
  const [best] = patterns.sort(
    (a, b) => Number(b === tool.name) - Number(a === tool.name) || b.length - a.length,
  );
  if (best !== undefined) return server.replay[best] ?? "unsafe";
  return server.trusted ? toReplayClass(tool.hints) : "unsafe";
}

function toReplayClass({ readOnly, idempotent, destructive }: ToolHints): ReplayClass {
  if (readOnly === true) return destructive === true ? "unsafe" : "pure";
  return idempotent === true ? "idempotent" : "unsafe";
}

function formatDescription({ title, description = "", name }: RemoteTool): { text: string; isCut: boolean } {
  const text = description.trim() === "" ? (title ?? name) : description;
  const whole = sanitiseText(text, Number.POSITIVE_INFINITY);
  return { text: sanitiseText(text, MAX_DESCRIPTION_CHARS), isCut: whole.length > MAX_DESCRIPTION_CHARS };
}

/** Returns an object schema, which vendors require, whatever the server omits. */
function toParameters({ inputSchema }: RemoteTool): Record<string, unknown> {
  return { ...inputSchema, type: "object" };
}

function measureBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => [key, sortKeys(one)]);
}
