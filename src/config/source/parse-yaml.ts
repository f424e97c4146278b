import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Node as YamlNode,
} from "yaml";
import type { Entry, Node, Scalar, Span } from "./node.ts";
import { MAX_DEPTH, MAX_NODES, type Parse, refused } from "./syntax.ts";

export const parseYaml: Parse = (text) => {
  const documents = parseAllDocuments(text, { prettyErrors: false });
  const [document, second] = "empty" in documents ? [] : documents;
  const problems = ("empty" in documents ? [] : documents).flatMap(({ errors }) =>
    errors.map(({ pos: [start, end], message }) => ({ span: { start, end }, message })),
  );
  if (problems.length > 0) return { ok: false, problems };
  if (second !== undefined) {
    const [start, end] = second.range;
    return refused({ start, end }, "A second document begins here; a file is one document");
  }
  try {
    return { ok: true, root: new Reader(document).root() };
  } catch (error) {
    if (error instanceof Unfit) return refused(error.span, error.message);
    throw error;
  }
};

class Unfit extends Error {
  readonly span: Span;
  constructor(span: Span, message: string) {
    super(message);
    this.span = span;
  }
}

class Reader {
  readonly #document: Document.Parsed | undefined;
  #nodes = 0;

  constructor(document: Document.Parsed | undefined) {
    this.#document = document;
  }

  root(): Node {
    const contents = this.#document?.contents;
    if (contents === undefined || contents === null || (isScalar(contents) && contents.value === null))
      return { type: "table", span: { start: 0, end: 0 }, entries: new Map() };
    return this.#content(contents, spanOf(contents), 0);
  }

  /** @param span - Of the alias, where one stands for the node. */
  #content(node: YamlNode, span: Span, depth: number): Node {
    this.#nodes += 1;
    if (depth > MAX_DEPTH) throw new Unfit(span, `More than ${MAX_DEPTH} levels of nesting`);
    if (this.#nodes > MAX_NODES)
      throw new Unfit(span, `More than ${MAX_NODES} values, aliases counted each time`);
    if (isAlias(node)) {
      const meant = node.resolve(this.#document!);
      if (meant === undefined) throw new Unfit(span, `There is no anchor &${node.source} above this alias`);
      return this.#content(meant as YamlNode, span, depth + 1);
    }
    if (isSeq(node)) {
      const items = node.items.map((item) =>
        this.#content(item as YamlNode, spanOf(item as YamlNode), depth + 1),
      );
      return { type: "list", span, items };
    }
    if (isMap(node)) return { type: "table", span, entries: this.#entries(node.items, span, depth) };
    if (!isScalar(node)) throw new Unfit(span, "This is neither a table, nor a list, nor a value");
    const quoted =
      node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE" || node.type?.startsWith("BLOCK");
    return { type: "scalar", span, value: scalar(node.value), bare: quoted !== true };
  }

  #entries(
    pairs: readonly { readonly key: unknown; readonly value: unknown }[],
    span: Span,
    depth: number,
  ): ReadonlyMap<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const { key, value } of pairs) {
      if (!isScalar(key)) throw new Unfit(span, "A key must be a word");
      const at = spanOf(key);
      const node =
        value === null || value === undefined
          ? ({ type: "scalar", span: at, value: null, bare: true } as const)
          : this.#content(value as YamlNode, spanOf(value as YamlNode), depth + 1);
      if (key.value !== "<<" || node.type !== "table") entries.set(String(key.value), { key: at, node });
      else for (const [name, entry] of node.entries) if (!entries.has(name)) entries.set(name, entry);
    }
    return entries;
  }
}

function scalar(value: unknown): Scalar {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return value;
    default:
      return value === null || value === undefined ? null : String(value);
  }
}

function spanOf(node: { readonly range?: readonly [number, number, number] | null | undefined }): Span {
  const [start, end] = node.range ?? [0, 0, 0];
  return { start, end };
}
