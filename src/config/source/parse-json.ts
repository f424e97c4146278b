import { type Node as JsonNode, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { createParseFailure, MAX_DEPTH, type ParseFunction } from "./parse-result.ts";
import type { Scalar, SourceEntry, SourceNode } from "./source-node.ts";
import { explainJsonError, explainRepeatedKey } from "./syntax-hints.ts";

const OPTIONS = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

export const parseJson: ParseFunction = (text) => {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, OPTIONS);
  if (errors.length > 0 || tree === undefined) {
    return {
      ok: false,
      // Those after the first one usually follow from it.
      problems: errors.slice(0, 1).map(({ error, offset, length }) => ({
        span: { start: offset, end: offset + length },
        message: explainJsonError(text, offset, printParseErrorCode(error)),
      })),
    };
  }
  try {
    return { ok: true, root: toNode(tree, 0) };
  } catch (error) {
    if (error instanceof UnsupportedValueError) return createParseFailure(toSpan(error.node), error.message);
    throw error;
  }
};

class UnsupportedValueError extends Error {
  readonly node: JsonNode;
  constructor(node: JsonNode, message: string) {
    super(message);
    this.node = node;
  }
}

function toNode(node: JsonNode, depth: number): SourceNode {
  if (depth > MAX_DEPTH) throw new UnsupportedValueError(node, `More than ${MAX_DEPTH} levels of nesting`);
  const span = toSpan(node);
  if (node.type === "array") {
    return { type: "list", span, items: (node.children ?? []).map((child) => toNode(child, depth + 1)) };
  }
  if (node.type !== "object") {
    return { type: "scalar", span, value: node.value as Scalar, bare: node.type !== "string" };
  }
  const entries = new Map<string, SourceEntry>();
  for (const { children } of node.children ?? []) {
    const [key, value] = children as [JsonNode, JsonNode];
    if (entries.has(key.value)) throw new UnsupportedValueError(key, explainRepeatedKey(key.value));
    entries.set(key.value, { key: toSpan(key), node: toNode(value, depth + 1) });
  }
  return { type: "table", span, entries };
}

function toSpan({ offset, length }: JsonNode) {
  return { start: offset, end: offset + length };
}
