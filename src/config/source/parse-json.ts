import { type Node as JsonNode, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Entry, Node, Scalar } from "./node.ts";
import { MAX_DEPTH, type Parse, refused } from "./syntax.ts";

const OPTIONS = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

export const parseJson: Parse = (text) => {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, OPTIONS);
  if (errors.length > 0 || tree === undefined) {
    return {
      ok: false,
      problems: errors.map(({ error, offset, length }) => ({
        span: { start: offset, end: offset + length },
        message: inWords(printParseErrorCode(error)),
      })),
    };
  }
  try {
    return { ok: true, root: content(tree, 0) };
  } catch (error) {
    if (error instanceof Unfit) return refused(spanOf(error.node), error.message);
    throw error;
  }
};

class Unfit extends Error {
  readonly node: JsonNode;
  constructor(node: JsonNode, message: string) {
    super(message);
    this.node = node;
  }
}

function content(node: JsonNode, depth: number): Node {
  if (depth > MAX_DEPTH) throw new Unfit(node, `More than ${MAX_DEPTH} levels of nesting`);
  const span = spanOf(node);
  if (node.type === "array") {
    return { type: "list", span, items: (node.children ?? []).map((child) => content(child, depth + 1)) };
  }
  if (node.type !== "object") {
    return { type: "scalar", span, value: node.value as Scalar, bare: node.type !== "string" };
  }
  const entries = new Map<string, Entry>();
  for (const { children } of node.children ?? []) {
    const [key, value] = children as [JsonNode, JsonNode];
    if (entries.has(key.value)) throw new Unfit(key, `The key ${JSON.stringify(key.value)} is there twice`);
    entries.set(key.value, { key: spanOf(key), node: content(value, depth + 1) });
  }
  return { type: "table", span, entries };
}

function spanOf({ offset, length }: JsonNode) {
  return { start: offset, end: offset + length };
}

/** `CommaExpected` is "Comma expected". */
function inWords(code: string): string {
  const words = code.replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after}`);
  return words.charAt(0) + words.slice(1).toLowerCase();
}
