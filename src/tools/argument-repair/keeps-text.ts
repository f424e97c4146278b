// What it means that a repair of loose JSON loses no text.
//
// The units of a source are its quoted texts, with their escapes read, and the words that stand without quotes. Words
// and texts that touch, and words that follow one another, are one unit: a text with quotes or without any. The units
// of a value are its keys, texts, numbers and words. A repair keeps the text when there are the same units in the
// same order, and
//
//   T1. a quoted text that stands alone is the same, character by character,
//   T2. of another unit every character is there, in order, and nothing is added but white space, quotes and marks.
//
// So it fails when a comment, an ellipsis, a broken escape or a doubled key was dropped, when one text was taken for
// two or two for one, and when something was made up, such as `null` for a value that never came.

/** Whether the end of a source is the end of what was said, as far as the text itself shows. */
type Ending =
  /** All brackets are closed. */
  | "closed"
  /** Brackets are missing, behind a value that is whole. */
  | "behind-value"
  /** Behind a comma, a colon, an opening bracket, or in the middle of a text, a number or a word. */
  | "within";

type Unit = { readonly content: string; readonly isText: boolean };

export type Source = { readonly units: readonly Unit[]; readonly ending: Ending };

const MARKS = "{}[],:";

/** A word of the languages that models mix with JSON. */
const WORDS: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };

export function scan(source: string): Source {
  const units: Unit[] = [];
  let depth = 0;
  let isWhole = false;
  let before: "apart" | "text" | "word" = "apart";
  let isSpaced = false;
  let at = 0;

  const add = (unit: Unit): void => {
    const last = units.at(-1);
    const kind = unit.isText ? "text" : "word";
    const areApart = before === "apart" || (isSpaced && before === "text" && kind === "text");
    if (last === undefined || areApart) units.push(unit);
    else units[units.length - 1] = { content: last.content + unit.content, isText: false };
    before = kind;
    isSpaced = false;
  };

  while (at < source.length) {
    const char = source[at] as string;
    if (/\s/.test(char)) {
      isSpaced = true;
      at += 1;
    } else if (MARKS.includes(char)) {
      depth += "{[".includes(char) ? 1 : "}]".includes(char) ? -1 : 0;
      isWhole = "}]".includes(char);
      before = "apart";
      at += 1;
    } else if (char === '"' || char === "'") {
      const text = quoted(source, at);
      add({ content: text.content, isText: true });
      if (!text.isClosed) return { units, ending: "within" };
      isWhole = true;
      at = text.end;
    } else {
      const found = word(source, at);
      const said = Object.hasOwn(WORDS, found) ? WORDS[found]! : found;
      add({ content: said, isText: false });
      isWhole = said === "true" || said === "false" || said === "null";
      at += found.length;
    }
  }
  return { units, ending: depth <= 0 ? "closed" : isWhole ? "behind-value" : "within" };
}

function word(source: string, from: number): string {
  let end = from;
  while (end < source.length && !/[\s"{}[\],:]/.test(source[end] as string)) end += 1;
  return source.slice(from, end);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

function quoted(source: string, from: number): { content: string; end: number; isClosed: boolean } {
  const quote = source[from];
  let content = "";
  let at = from + 1;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === quote) return { content, end: at + 1, isClosed: true };
    if (char !== "\\") {
      content += char;
      at += 1;
      continue;
    }
    const escaped = source[at + 1] ?? "";
    const point = /^u[0-9a-fA-F]{4}/.exec(source.slice(at + 1, at + 6));
    if (point !== null) {
      content += String.fromCharCode(Number.parseInt(point[0].slice(1), 16));
      at += 6;
    } else {
      // An escape that JSON does not know is two characters of text.
      content += Object.hasOwn(ESCAPES, escaped) ? ESCAPES[escaped] : `\\${escaped}`;
      at += 2;
    }
  }
  return { content, end: at, isClosed: false };
}

export function keepsText({ units }: Source, value: unknown): boolean {
  const kept = unitsOf(value);
  return (
    kept.length === units.length &&
    units.every(({ content, isText }, index) => {
      const result = kept[index] as string;
      return isText
        ? content === result
        : isWithin(content, result) && withoutMarks(content) === withoutMarks(result);
    })
  );
}

function unitsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(unitsOf);
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, field]) => [key, ...unitsOf(field)]);
}

function isWithin(part: string, whole: string): boolean {
  let found = 0;
  for (let at = 0; at < whole.length && found < part.length; at++) if (whole[at] === part[found]) found += 1;
  return found === part.length;
}

function withoutMarks(content: string): string {
  return content.replace(/[\s"'{}[\],:]/g, "");
}
