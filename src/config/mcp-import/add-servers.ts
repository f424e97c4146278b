import { applyEdits, type JSONPath, modify } from "jsonc-parser";
import { isScalar, isSeq, parseDocument } from "yaml";
import type { JsonObject } from "../../platform/text/json.ts";
import type { SourceFormat } from "../source/source-format.ts";
import { writeToml } from "../source/write-formats.ts";

// Adds [[mcp]] tables to the text of an agent file. Everything else of the file stays, comments too.

const BYTE_ORDER_MARK = "\uFEFF";

export function addServers(text: string, format: SourceFormat, servers: readonly JsonObject[]): string {
  switch (format) {
    case "toml":
      // A table may be appended at the end of a file, whatever stands before it.
      return `${text.trimEnd()}\n\n${writeToml({ mcp: servers })}`;
    case "yaml":
      return addToYaml(text, servers);
    case "json":
      return addToJson(text, servers);
  }
}

function addToYaml(text: string, servers: readonly JsonObject[]): string {
  const document = parseDocument(text);
  const existing = document.get("mcp", true);
  if (isSeq(existing)) for (const server of servers) existing.add(document.createNode(server));
  else {
    const list = document.createNode(servers);
    // The comment of a key without a value.
    if (isScalar(existing)) list.commentBefore = existing.comment ?? null;
    document.set("mcp", list);
  }
  return document.toString({ lineWidth: 0 });
}

function addToJson(text: string, servers: readonly JsonObject[]): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const plain = text.slice(mark.length);
  const isList = Array.isArray((JSON.parse(plain) as JsonObject)["mcp"]);
  const added = isList
    ? servers.reduce((written: string, server) => edit(written, ["mcp", -1], server), plain)
    : edit(plain, ["mcp"], servers);
  return mark + added;
}

/** Sets a value of a JSON text; a path that ends with -1 appends to a list. */
function edit(text: string, path: JSONPath, value: unknown): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  return applyEdits(
    text,
    modify(text, path, value, { formattingOptions, isArrayInsertion: path.at(-1) === -1 }),
  );
}
