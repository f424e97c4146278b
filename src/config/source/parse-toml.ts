import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import type { Entry, Node, Span } from "./node.ts";
import { type Parse, refused } from "./syntax.ts";

export const parseToml: Parse = (text) => {
  try {
    const [body] = parseTOML(text, { tomlVersion: "1.0" }).body;
    const root = table({ start: 0, end: text.length });
    for (const part of body.body) {
      if (part.type === "TOMLKeyValue") assign(root, part);
      else fill(root, part);
    }
    return { ok: true, root };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return refused({ start: error.index, end: error.index }, error.message);
  }
};

type Table = Extract<Node, { type: "table" }> & { readonly entries: Map<string, Entry> };
type List = Extract<Node, { type: "list" }> & { readonly items: Node[] };

function table(span: Span): Table {
  return { type: "table", span, entries: new Map() };
}

function fill(root: Table, part: AST.TOMLTable): void {
  const span = spanOf(part);
  const keys = part.key.keys;
  const holder = hold(root, keys.slice(0, -1));
  const last = keys.at(-1)!;
  const name = nameOf(last);
  const there = holder.entries.get(name)?.node;
  let filled: Table;
  if (part.kind === "array") {
    const list = there?.type === "list" ? (there as List) : { type: "list" as const, span, items: [] };
    if (there === undefined) holder.entries.set(name, { key: spanOf(last), node: list });
    filled = table(spanOf(part.key));
    list.items.push(filled);
  } else {
    filled = there?.type === "table" ? (there as Table) : table(spanOf(part.key));
    holder.entries.set(name, { key: spanOf(last), node: filled });
  }
  for (const entry of part.body) assign(filled, entry);
}

function assign(into: Table, { key, value }: AST.TOMLKeyValue): void {
  const last = key.keys.at(-1)!;
  hold(into, key.keys.slice(0, -1)).entries.set(nameOf(last), { key: spanOf(last), node: content(value) });
}

/** The table below a table by these keys; of a list of tables, its last one, as TOML has it. */
function hold(root: Table, keys: readonly (AST.TOMLBare | AST.TOMLQuoted)[]): Table {
  let here = root;
  for (const key of keys) {
    const there = here.entries.get(nameOf(key))?.node;
    const next = there?.type === "list" ? there.items.at(-1) : there;
    if (next?.type === "table") here = next as Table;
    else {
      const made = table(spanOf(key));
      here.entries.set(nameOf(key), { key: spanOf(key), node: made });
      here = made;
    }
  }
  return here;
}

function content(node: AST.TOMLContentNode): Node {
  const span = spanOf(node);
  switch (node.type) {
    case "TOMLArray":
      return { type: "list", span, items: node.elements.map(content) };
    case "TOMLInlineTable": {
      const made = table(span);
      for (const entry of node.body) assign(made, entry);
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
          // Dates and times have no place in an agent; as texts they are at least shown.
          return { type: "scalar", span, value: node.datetime, bare: true };
      }
  }
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function spanOf({ range: [start, end] }: { readonly range: readonly [number, number] }): Span {
  return { start, end };
}
