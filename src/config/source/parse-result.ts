import type { SourceNode, Span } from "./source-node.ts";

/** A violation of the format's syntax. */
type SyntaxProblem = { readonly span: Span; readonly message: string };

export type ParseResult =
  | { readonly ok: true; readonly root: SourceNode }
  | { readonly ok: false; readonly problems: readonly SyntaxProblem[] };

/** Parses a text of one format. */
export type ParseFunction = (text: string) => ParseResult;

export function createParseFailure(span: Span, message: string): ParseResult {
  return { ok: false, problems: [{ span, message }] };
}

/** Deeper or larger files are not agents; YAML aliases could create them from a few lines. */
export const MAX_DEPTH = 64;
export const MAX_NODES = 100_000;

/** No file that a person writes has more keys and values, references, or characters. */
export const MAX_KEYS = 10_000;
export const MAX_REFERENCES = 1000;
export const MAX_CHARS = 1024 * 1024;
/** Parsers need about 0.1 ms per line, more in long files. */
export const MAX_LINES = 20_000;

/** The message for a text that exhausts a parser's stack. */
export const TOO_DEEP =
  `More than ${MAX_DEPTH} levels of nesting, or more than about 100,000 characters in one text: ` +
  "move a long text to a file of its own";
