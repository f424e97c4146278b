import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { createParseFailure, type ParseFunction } from "./parse-result.ts";
import type { SourceEntry, SourceNode, Span } from "./source-node.ts";
import { explainTomlError } from "./syntax-hints.ts";

export const parseToml: ParseFunction = (text) => {
  try {
    const [body] = parseTOML(text, { tomlVersion: "1.0" }).body;
    const root = createTable({ start: 0, end: text.length });
    for (const part of body.body) {
      if (part.type === "TOMLKeyValue") assignKey(root, part);
      else fillTable(root, part);
    }
    return { ok: true, root };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const hint = explainTomlError(text, error.index, error.message);
    return createParseFailure({ start: error.index, end: error.index }, hint);
  }
};

type Table = Extract<SourceNode, { type: "table" }> & { readonly entries: Map<string, SourceEntry> };
type List = Extract<SourceNode, { type: "list" }> & { readonly items: SourceNode[] };

function createTable(span: Span): Table {
  return { type: "table", span, entries: new Map() };
}

function fillTable(root: Table, part: AST.TOMLTable): void {
  const span = toSpan(part);
  const keys = part.key.keys;
  const holder = getOrCreateTable(root, keys.slice(0, -1));
  const last = keys.at(-1)!;
  const name = getKeyName(last);
  const existing = holder.entries.get(name)?.node;
  let filled: Table;
  if (part.kind === "array") {
    const list = existing?.type === "list" ? (existing as List) : { type: "list" as const, span, items: [] };
    if (existing === undefined) holder.entries.set(name, { key: toSpan(last), node: list });
    filled = createTable(toSpan(part.key));
    list.items.push(filled);
  } else {
    filled = existing?.type === "table" ? (existing as Table) : createTable(toSpan(part.key));
    holder.entries.set(name, { key: toSpan(last), node: filled });
  }
  for (const entry of part.body) assignKey(filled, entry);
}

function assignKey(into: Table, { key, value }: AST.TOMLKeyValue): void {
  const last = key.keys.at(-1)!;
  getOrCreateTable(into, key.keys.slice(0, -1)).entries.set(getKeyName(last), {
    key: toSpan(last),
    node: toNode(value),
  });
}

/** Returns or creates the table at these keys. As TOML specifies, a list of tables stands for its last one. */
function getOrCreateTable(root: Table, keys: readonly (AST.TOMLBare | AST.TOMLQuoted)[]): Table {
  let here = root;
  for (const key of keys) {
    const existing = here.entries.get(getKeyName(key))?.node;
    const next = existing?.type === "list" ? existing.items.at(-1) : existing;
    if (next?.type === "table") here = next as Table;
    else {
      const created = createTable(toSpan(key));
      here.entries.set(getKeyName(key), { key: toSpan(key), node: created });
      here = created;
    }
  }
  return here;
}

function toNode(node: AST.TOMLContentNode): SourceNode {
  const span = toSpan(node);
  switch (node.type) {
    case "TOMLArray":
      return { type: "list", span, items: node.elements.map(toNode) };
    case "TOMLInlineTable": {
      const made = createTable(span);
      for (const entry of node.body) assignKey(made, entry);
      return made;
    }
    case "TOMLValue":
      switch (node.kind) {
        case "string":
          return { type: "scalar", span, value: node.value, bare: false };
        case "boolean":
        case "integer":
        case "float":
          return { type: "scalar", span, value: node.value, bare: true };
        default:
          // An agent has no dates or times; as texts they appear in the problem.
          return { type: "scalar", span, value: node.datetime, bare: true };
      }
  }
}

function getKeyName(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function toSpan({ range: [start, end] }: { readonly range: readonly [number, number] }): Span {
  return { start, end };
}
