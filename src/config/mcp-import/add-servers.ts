import { applyEdits, modify } from "jsonc-parser";
import { Document, isSeq, parseDocument } from "yaml";
import type { JsonObject } from "../../platform/text/json.ts";
import type { SourceFormat } from "../source/source-format.ts";
import { writeToml } from "../source/write-formats.ts";

// Adds [[mcp]] tables to the text of an agent file. Everything else of the file stays, comments too.

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
  const existing = document.get("mcp");
  for (const server of servers) {
    const node = document.createNode(server);
    if (isSeq(existing)) existing.add(node);
    else if (isSeq(document.get("mcp"))) document.addIn(["mcp"], node);
    else document.set("mcp", new Document([server]).contents);
  }
  return document.toString({ lineWidth: 0 });
}

function addToJson(text: string, servers: readonly JsonObject[]): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  let written = text;
  const isList = Array.isArray((JSON.parse(text) as JsonObject)["mcp"]);
  if (!isList) return applyEdits(text, modify(text, ["mcp"], servers, { formattingOptions }));
  for (const server of servers) {
    const edits = modify(written, ["mcp", -1], server, { formattingOptions, isArrayInsertion: true });
    written = applyEdits(written, edits);
  }
  return written;
}
