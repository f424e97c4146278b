import type { Node, Span } from "./node.ts";

/** The text is not of its format. */
export type SyntaxProblem = { readonly span: Span; readonly message: string };

export type Parsed =
  | { readonly ok: true; readonly root: Node }
  | { readonly ok: false; readonly problems: readonly SyntaxProblem[] };

/** Reads one format. */
export type Parse = (text: string) => Parsed;

export function refused(span: Span, message: string): Parsed {
  return { ok: false, problems: [{ span, message }] };
}

/** Deeper or larger files are not agents; an alias in YAML could make them of a few lines. */
export const MAX_DEPTH = 64;
export const MAX_NODES = 100_000;
