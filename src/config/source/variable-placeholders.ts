import type { Scalar, Span } from "./source-node.ts";

// `${NAME}` in a file (CFG-03). A variable's value replaces its reference as if it were written there, but it cannot
// add keys or break quotes: before parsing, each reference is replaced by a placeholder of digits, which every format
// accepts; after parsing, the value replaces the placeholder.

/** `$${NAME}` is not a reference: it means the text `${NAME}`. */
const REFERENCE = /(?<!\$)\$+\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Reference = {
  /** The span in the original text. */
  readonly span: Span;
  /** The reference in the original text: `${NAME}`. */
  readonly written: string;
  readonly variable: string;
  readonly escaped: boolean;
};

export type PreparedText = {
  readonly text: string;
  readonly references: ReadonlyMap<string, Reference>;
  /** Converts an offset in the prepared text to one in the original text. */
  readonly original: (offset: number) => number;
  /** Matches the placeholders. */
  readonly isPlaceholder: RegExp;
};

const DIGITS = 12;

/** The span of a placeholder in the prepared text, and the span of its reference in the original text. */
type OffsetShift = { readonly at: number; readonly end: number; readonly reference: Span };

export function preparePlaceholders(written: string): PreparedText {
  const prefix = findUnusedPrefix(written);
  const references = new Map<string, Reference>();
  const shifts: OffsetShift[] = [];
  let grown = 0;
  const text = written.replace(REFERENCE, (match, variable: string, start: number) => {
    const placeholder = `${prefix}${String(references.size).padStart(4, "0")}`;
    const span = { start, end: start + match.length };
    references.set(placeholder, { span, written: match, variable, escaped: match.startsWith("$$") });
    shifts.push({ at: start + grown, end: start + grown + placeholder.length, reference: span });
    grown += placeholder.length - match.length;
    return placeholder;
  });
  const original = (offset: number): number => {
    // A binary search for the last one that ends at or before the offset: there may be as many references as values.
    let [low, high] = [0, shifts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (offset < (shifts[middle] as OffsetShift).end) high = middle;
      else low = middle + 1;
    }
    const before = shifts[low - 1];
    const shift = before === undefined ? 0 : before.reference.end - before.end;
    const next = shifts[low];
    return next === undefined || offset <= next.at ? offset + shift : next.reference.end;
  };
  return { text, references, original, isPlaceholder: new RegExp(`${prefix}\\d{4}`, "g") };
}

/** Treats `${NAME}` as plain text: for files whose author may not read variables. */
export function keepPlaceholders(written: string): PreparedText {
  return { text: written, references: new Map(), original: (offset) => offset, isPlaceholder: /(?!)/g };
}

/** Finds digits that do not occur in the text. */
function findUnusedPrefix(text: string): string {
  for (let candidate = 10 ** (DIGITS - 5); ; candidate += 1) {
    if (!text.includes(String(candidate))) return String(candidate);
  }
}

/** Parses an unquoted value, for all three formats: a boolean, a number, or else a text. */
export function parseBareValue(text: string): Scalar {
  if (text === "true" || text === "false") return text === "true";
  const number = /^[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text.replaceAll("_", "")) : NaN;
  return Number.isFinite(number) ? number : text;
}

/** Escapes text that looks like a reference. */
export function escapeReferences(text: string): string {
  return text.replace(REFERENCE, (match) => `$${match}`);
}
