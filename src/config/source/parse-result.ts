import type { SourceNode, Span } from "./source-node.ts";

/** The text is not of its format. */
type SyntaxProblem = { readonly span: Span; readonly message: string };

export type ParseResult =
  | { readonly ok: true; readonly root: SourceNode }
  | { readonly ok: false; readonly problems: readonly SyntaxProblem[] };

/** Reads one format. */
export type ParseFunction = (text: string) => ParseResult;

export function createParseFailure(span: Span, message: string): ParseResult {
  return { ok: false, problems: [{ span, message }] };
}

/** Deeper or larger files are not agents; an alias in YAML could make them of a few lines. */
export const MAX_DEPTH = 64;
export const MAX_NODES = 100_000;

/** A file of more keys and values, references or letters is none that a person has written. */
export const MAX_KEYS = 10_000;
export const MAX_REFERENCES = 1000;
export const MAX_CHARS = 1024 * 1024;
/** Parsers need some 0.1 ms a line, more in long files. */
export const MAX_LINES = 20_000;

/** What a parser that has lost its way in a file can be told of. */
export const TOO_DEEP =
  `More than ${MAX_DEPTH} levels of nesting, or more than some 100,000 letters in one text: ` +
  "put a long text into a file of its own";
