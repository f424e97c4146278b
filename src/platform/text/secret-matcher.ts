import { listSecretForms, MIN_SECRET_LENGTH } from "./secret-forms.ts";

// Finds secrets in a text, in all of their forms, in one pass over it: the time grows with the text, not with the number
// of forms. A table knows the first letters of each form by their hash; only where they are met are forms compared.
//
// Invariants
//   I1. No form of a secret is left in a masked text, whole or cut by another one that overlaps it.
//   I2. A form is found although white space stands between its letters: encoders wrap their lines.

/** Forms are looked up by their first letters. */
const HEAD = MIN_SECRET_LENGTH;
const BASE = 31;
const BASE_TO_HEAD = BASE ** (HEAD - 1);
/** A power of two; of a thousand forms, one place in sixty is taken. */
const FILTER_SIZE = 65_536;

/** With white space between its letters, a shorter form would be met in ordinary prose. */
const MIN_SPACED_LENGTH = 8;

/** So many letters of a form, spread over white space, are taken for its beginning at the end of a text. */
const MIN_SPACED_PARTIAL = 3;

const SPACE = /[\t-\r ]/;
const SPACES = /[\t-\r ]+/g;

type Span = { readonly begin: number; end: number };

export class SecretMatcher {
  readonly #plain: FormTable;
  readonly #spaced: FormTable;

  /** @param secrets - Whole values; every form of each is found. */
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
    for (const { begin, end } of mergeSpans(spans)) {
      masked += text.slice(from, begin) + standIn;
      from = end;
    }
    return masked + text.slice(from);
  }

  /** How many letters at the end of a text may be the beginning of a form that goes on in the next one. */
  countPartialAtEnd(text: string): number {
    const plain = this.#plain.countPartialAtEnd(text);
    if (this.#spaced.isEmpty || !SPACE.test(text.slice(-this.#spaced.longest * 2))) return plain;
    // Twice the longest form: letters with a blank after each are held back too.
    const tail = text.slice(-this.#spaced.longest * 2);
    const { letters, places } = removeSpace(tail);
    const begun = this.#spaced.countPartialAtEnd(letters);
    if (begun < MIN_SPACED_PARTIAL) return plain;
    return Math.max(plain, tail.length - (places[letters.length - begun] as number));
  }

  #findSpacedSpans(text: string): readonly Span[] {
    if (this.#spaced.isEmpty || !SPACE.test(text)) return [];
    const { letters, places } = removeSpace(text);
    return this.#spaced.findSpans(letters).map(({ begin, end }) => ({
      begin: places[begin] as number,
      end: (places[end - 1] as number) + 1,
    }));
  }
}

/** A text without its white space, and where each letter stood. */
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

/** Overlapping spans become one; neighbours stay two. */
function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const inOrder = [...spans].sort((a, b) => a.begin - b.begin || b.end - a.end);
  const result: Span[] = [];
  for (const { begin, end } of inOrder) {
    const last = result.at(-1);
    if (last !== undefined && begin < last.end) last.end = Math.max(last.end, end);
    else result.push({ begin, end });
  }
  return result;
}

class FormTable {
  readonly longest: number;
  /** By the hash of their first letters; the longest first. */
  readonly #forms = new Map<number, string[]>();
  readonly #byFirstLetter = new Map<number, string[]>();
  /** Whether any hash has these last bits. */
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

  /** The longest form at each place where one begins. */
  findSpans(text: string): readonly Span[] {
    const spans: Span[] = [];
    if (text.length < HEAD) return spans;
    const filter = this.#filter;
    let hash = computeHash(text);
    for (let at = 0; ; at++) {
      if (filter[hash & (FILTER_SIZE - 1)] === 1) {
        const form = this.#forms.get(hash)?.find((one) => text.startsWith(one, at));
        if (form !== undefined) spans.push({ begin: at, end: at + form.length });
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
