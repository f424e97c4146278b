import { listSecretForms, MIN_SECRET_LENGTH } from "./secret-forms.ts";

// Finds secrets in a text, in all of their forms, in one pass: the time grows with the text, not with the number of
// forms. A table contains the hashes of the forms' first letters; forms are compared only where a hash matches.
//
// Invariants
//   I1. A masked text contains no form of a secret, neither whole nor cut by another form that overlaps it.
//   I2. A form is found even with white space between its letters, because encoders wrap lines.

/** The number of first letters by which forms are looked up. */
const HEAD = MIN_SECRET_LENGTH;
const BASE = 31;
const BASE_TO_HEAD = BASE ** (HEAD - 1);
/** A power of two; a thousand forms fill about one slot in sixty. */
const FILTER_SIZE = 65_536;

/** A shorter form with white space between its letters would occur in ordinary prose. */
const MIN_SPACED_LENGTH = 8;

/** The number of letters, with white space between them, that count as the beginning of a form at the end of a text. */
const MIN_SPACED_PARTIAL = 3;

const SPACE = /[\t-\r ]/;
const SPACES = /[\t-\r ]+/g;

type Span = { readonly start: number; end: number };

export class SecretMatcher {
  readonly #plain: FormTable;
  readonly #spaced: FormTable;

  /** @param secrets - Whole values; every form of each value is found. */
  constructor(secrets: readonly string[]) {
    const forms = [...new Set(secrets.flatMap(listSecretForms))];
    const spread = forms.map((form) => form.replace(SPACES, ""));
    this.#plain = new FormTable(forms);
    this.#spaced = new FormTable([...new Set(spread)].filter((form) => form.length >= MIN_SPACED_LENGTH));
  }

  mask(text: string, standIn: string): string {
    if (this.#plain.isEmpty || text.length < HEAD) return text;
    const spans = [...this.#plain.findSpans(text), ...this.#findSpacedSpans(text)];
    if (spans.length === 0) return text;
    let masked = "";
    let from = 0;
    for (const { start, end } of mergeSpans(spans)) {
      masked += text.slice(from, start) + standIn;
      from = end;
    }
    return masked + text.slice(from);
  }

  /** Counts the letters at the end of a text that can begin a form which continues in the next text. */
  countPartialAtEnd(text: string): number {
    const plain = this.#plain.countPartialAtEnd(text);
    if (this.#spaced.isEmpty || !SPACE.test(text.slice(-this.#spaced.longest * 2))) return plain;
    // Twice the longest form, because letters with a blank after each also count.
    const tail = text.slice(-this.#spaced.longest * 2);
    const { letters, places } = removeSpace(tail);
    const begun = this.#spaced.countPartialAtEnd(letters);
    if (begun < MIN_SPACED_PARTIAL) return plain;
    return Math.max(plain, tail.length - (places[letters.length - begun] as number));
  }

  #findSpacedSpans(text: string): readonly Span[] {
    if (this.#spaced.isEmpty || !SPACE.test(text)) return [];
    const { letters, places } = removeSpace(text);
    return this.#spaced.findSpans(letters).map(({ start, end }) => ({
      start: places[start] as number,
      end: (places[end - 1] as number) + 1,
    }));
  }
}

/** Removes white space and returns the original position of each letter. */
function removeSpace(text: string): { readonly letters: string; readonly places: Uint32Array } {
  const letters = text.replace(SPACES, "");
  const places = new Uint32Array(letters.length);
  let filled = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 32 && (code < 9 || code > 13)) places[filled++] = at;
  }
  return { letters, places };
}

/** Merges overlapping spans. Adjacent spans stay separate. */
function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const inOrder = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const result: Span[] = [];
  for (const { start, end } of inOrder) {
    const last = result.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}

class FormTable {
  readonly longest: number;
  /** Forms by the hash of their first letters, the longest first. */
  readonly #forms = new Map<number, string[]>();
  readonly #byFirstLetter = new Map<number, string[]>();
  /** Whether any hash has these low bits. */
  readonly #filter = new Uint8Array(FILTER_SIZE);

  constructor(forms: readonly string[]) {
    const ordered = [...forms].sort((a, b) => b.length - a.length);
    this.longest = ordered[0]?.length ?? 0;
    for (const form of ordered) {
      const hash = computeHash(form);
      addForm(this.#forms, hash, form);
      addForm(this.#byFirstLetter, form.charCodeAt(0), form);
      this.#filter[hash & (FILTER_SIZE - 1)] = 1;
    }
  }

  get isEmpty(): boolean {
    return this.#forms.size === 0;
  }

  /** Finds the longest form at each position where one begins. */
  findSpans(text: string): readonly Span[] {
    const spans: Span[] = [];
    if (text.length < HEAD) return spans;
    const filter = this.#filter;
    let hash = computeHash(text);
    for (let at = 0; ; at++) {
      if (filter[hash & (FILTER_SIZE - 1)] === 1) {
        const form = this.#forms.get(hash)?.find((one) => text.startsWith(one, at));
        if (form !== undefined) spans.push({ start: at, end: at + form.length });
      }
      if (at + HEAD >= text.length) return spans;
      hash =
        (Math.imul(hash - Math.imul(text.charCodeAt(at), BASE_TO_HEAD), BASE) + text.charCodeAt(at + HEAD)) |
        0;
    }
  }

  countPartialAtEnd(text: string): number {
    for (let at = Math.max(0, text.length - this.longest + 1); at < text.length; at++) {
      const left = text.length - at;
      const candidates = this.#byFirstLetter.get(text.charCodeAt(at));
      if (candidates?.some((form) => form.length > left && form.startsWith(text.slice(at)))) return left;
    }
    return 0;
  }
}

function computeHash(text: string): number {
  let hash = 0;
  for (let at = 0; at < HEAD; at++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
  return hash;
}

function addForm(table: Map<number, string[]>, key: number, form: string): void {
  const forms = table.get(key);
  if (forms === undefined) table.set(key, [form]);
  else forms.push(form);
}
