/** Where a claim can be checked: lines of a file at a commit, and what they should contain. */
export type Reference = {
  readonly commit: string;
  readonly path: string;
  /** The first and the last line, counted from 1. */
  readonly from: number;
  readonly to: number;
  /** A name that stands in these lines. */
  readonly symbol?: string;
};

export type ParsedReference =
  | { readonly ok: true; readonly reference: Reference }
  | { readonly ok: false; readonly reason: string };

const FORMAT = /^([^:\s]+):(.+):L?(\d{1,9})(?:-L?(\d{1,9}))?(?:#(\S.*))?$/;

/** No ref that git knows begins with a dash or contains these. */
const IS_COMMIT = /^[A-Za-z0-9_][^\s~^:?*[\\]{0,250}$/;

/** Parses `commit:path:lines`, with `#symbol` after the lines or without. */
export function parseReference(text: string): ParsedReference {
  const [, commit = "", path = "", first = "", last = first, symbol] = FORMAT.exec(text.trim()) ?? [];
  if (commit === "") return refuse(text, "is not commit:path:lines, such as 1a2b3c4:src/main.ts:10-12");
  if (!IS_COMMIT.test(commit)) return refuse(text, "names no commit");
  if (!isPathWithin(path)) return refuse(text, "names no path within the repository");
  const [from, to] = [Number(first), Number(last)];
  if (from < 1 || to < from) return refuse(text, "has lines in the wrong order, or a line 0");
  return {
    ok: true,
    reference: { commit, path, from, to, ...(symbol === undefined ? {} : { symbol: symbol.trim() }) },
  };
}

function refuse(text: string, reason: string): ParsedReference {
  const shown = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return { ok: false, reason: `"${shown}" ${reason}` };
}

function isPathWithin(path: string): boolean {
  return (
    !path.startsWith("/") &&
    !path.includes("\0") &&
    !path.split("/").some((step) => ["", ".", ".."].includes(step))
  );
}

export function formatReference({ commit, path, from, to, symbol }: Reference): string {
  const lines = from === to ? `${from}` : `${from}-${to}`;
  return `${commit}:${path}:${lines}${symbol === undefined ? "" : `#${symbol}`}`;
}

/** With a hash, so that the words of a text are not taken for a reference. */
const IN_TEXT =
  /`([0-9a-f]{7,64}:[^`\n]+:L?\d+[^`\n]*)`|(?<![\w/])([0-9a-f]{7,64}:[^\s:`]+:L?\d+(?:-L?\d+)?(?:#[\w$.:]*[\w$])?)/g;

/** Lists the references within a text, as they are written. */
export function listReferences(text: string): readonly string[] {
  return [...text.matchAll(IN_TEXT)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}
