import type { Scalar, Span } from "./node.ts";

// `${NAME}` in a file (CFG-03). What a variable holds is put in place of it as if it had been written there, but it
// cannot add keys or break quotes: before parsing, each reference is replaced by digits that no format takes for
// anything else, and afterwards the digits by the value.

/** `$${NAME}` is not a reference: it stands for the text `${NAME}`. */
const REFERENCE = /\$+\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Reference = {
  /** In the text as it was written. */
  readonly span: Span;
  /** As written: `${NAME}`. */
  readonly written: string;
  readonly variable: string;
  readonly escaped: boolean;
};

export type Prepared = {
  readonly text: string;
  readonly references: ReadonlyMap<string, Reference>;
  /** From an offset of the prepared text to one of the text as written. */
  readonly original: (offset: number) => number;
  /** Finds the digits. */
  readonly standIn: RegExp;
};

const DIGITS = 12;

export function prepare(written: string): Prepared {
  const prefix = unusedPrefix(written);
  const references = new Map<string, Reference>();
  const shifts: { readonly at: number; readonly end: number; readonly reference: Span }[] = [];
  let grown = 0;
  const text = written.replace(REFERENCE, (match, variable: string, start: number) => {
    const standIn = `${prefix}${String(references.size).padStart(4, "0")}`;
    const span = { start, end: start + match.length };
    references.set(standIn, { span, written: match, variable, escaped: match.startsWith("$$") });
    shifts.push({ at: start + grown, end: start + grown + standIn.length, reference: span });
    grown += standIn.length - match.length;
    return standIn;
  });
  const original = (offset: number): number => {
    let shift = 0;
    for (const { at, end, reference } of shifts) {
      if (offset < end) return offset <= at ? offset + shift : reference.end;
      shift = reference.end - end;
    }
    return offset + shift;
  };
  return { text, references, original, standIn: new RegExp(`${prefix}\\d{4}`, "g") };
}

/** Digits that begin no number of the text. */
function unusedPrefix(text: string): string {
  for (let candidate = 10 ** (DIGITS - 5); ; candidate += 1) {
    if (!text.includes(String(candidate))) return String(candidate);
  }
}

/** What bare letters say, in all three formats: a boolean, a number, or else a text. */
export function bareValue(text: string): Scalar {
  if (text === "true" || text === "false") return text === "true";
  const number = /^[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text.replaceAll("_", "")) : NaN;
  return Number.isFinite(number) ? number : text;
}

/** So that a text which looks like a reference stays the text that it is. */
export function escapeReferences(text: string): string {
  return text.replace(REFERENCE, (match) => `$${match}`);
}
