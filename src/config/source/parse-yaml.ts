import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Node as YamlNode,
} from "yaml";
import { createParseFailure, MAX_DEPTH, MAX_NODES, type ParseFunction } from "./parse-result.ts";
import type { Scalar, SourceEntry, SourceNode, Span } from "./source-node.ts";
import { explainYamlError } from "./syntax-hints.ts";

export const parseYaml: ParseFunction = (text) => {
  const documents = parseAllDocuments(text, { prettyErrors: false });
  const [document, second] = "empty" in documents ? [] : documents;
  const problems = ("empty" in documents ? [] : documents).flatMap(({ errors }) =>
    errors.map(({ pos: [start, end], code, message }) => ({
      span: { start, end },
      message: explainYamlError(text, start, { code, message }),
    })),
  );
  if (problems.length > 0) return { ok: false, problems };
  if (second !== undefined) {
    const [start, end] = second.range;
    return createParseFailure(
      { start, end },
      "A second document begins here; a file must contain one document",
    );
  }
  try {
    return { ok: true, root: new YamlReader(document).readRoot() };
  } catch (error) {
    if (error instanceof UnsupportedValueError) return createParseFailure(error.span, error.message);
    throw error;
  }
};

class UnsupportedValueError extends Error {
  readonly span: Span;
  constructor(span: Span, message: string) {
    super(message);
    this.span = span;
  }
}

class YamlReader {
  readonly #document: Document.Parsed | undefined;
  #nodes = 0;

  constructor(document: Document.Parsed | undefined) {
    this.#document = document;
  }

  readRoot(): SourceNode {
    const contents = this.#document?.contents;
    if (contents === undefined || contents === null || (isScalar(contents) && contents.value === null))
      return { type: "table", span: { start: 0, end: 0 }, entries: new Map() };
    return this.#toNode(contents, toSpan(contents), 0);
  }

  /** @param span - The node's span, or that of the alias that refers to it. */
  #toNode(node: YamlNode, span: Span, depth: number): SourceNode {
    this.#nodes += 1;
    if (depth > MAX_DEPTH) throw new UnsupportedValueError(span, `More than ${MAX_DEPTH} levels of nesting`);
    if (this.#nodes > MAX_NODES)
      throw new UnsupportedValueError(span, `More than ${MAX_NODES} values; each use of an alias counts`);
    if (isAlias(node)) {
      const target = node.resolve(this.#document!);
      if (target === undefined)
        throw new UnsupportedValueError(span, `There is no anchor &${node.source} above this alias`);
      return this.#toNode(target as YamlNode, span, depth + 1);
    }
    if (isSeq(node)) {
      const items = node.items.map((item) =>
        this.#toNode(item as YamlNode, toSpan(item as YamlNode), depth + 1),
      );
      return { type: "list", span, items };
    }
    if (isMap(node)) return { type: "table", span, entries: this.#readEntries(node.items, span, depth) };
    if (!isScalar(node))
      throw new UnsupportedValueError(span, "This is neither a table, nor a list, nor a value");
    const quoted =
      node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE" || node.type?.startsWith("BLOCK");
    return { type: "scalar", span, value: toScalar(node.value), bare: quoted !== true };
  }

  #readEntries(
    pairs: readonly { readonly key: unknown; readonly value: unknown }[],
    span: Span,
    depth: number,
  ): ReadonlyMap<string, SourceEntry> {
    const entries = new Map<string, SourceEntry>();
    for (const { key, value } of pairs) {
      if (!isScalar(key)) throw new UnsupportedValueError(span, "A key must be a scalar");
      const at = toSpan(key);
      const node =
        value === null || value === undefined
          ? ({ type: "scalar", span: at, value: null, bare: true } as const)
          : this.#toNode(value as YamlNode, toSpan(value as YamlNode), depth + 1);
      if (key.value !== "<<" || node.type !== "table") entries.set(String(key.value), { key: at, node });
      else for (const [name, entry] of node.entries) if (!entries.has(name)) entries.set(name, entry);
    }
    return entries;
  }
}

function toScalar(value: unknown): Scalar {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return value;
    default:
      return value === null || value === undefined ? null : String(value);
  }
}

function toSpan(node: { readonly range?: readonly [number, number, number] | null | undefined }): Span {
  const [start, end] = node.range ?? [0, 0, 0];
  return { start, end };
}
