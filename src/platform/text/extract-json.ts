// Finds the JSON value in a model's text: the whole text, a fenced block, or a value within prose (PHI-09).

export type ExtractedJson =
  | { readonly type: "found"; readonly value: unknown }
  /** `reason` is a sentence for a model. */
  | { readonly type: "missing" | "cut-off" | "invalid"; readonly reason: string };

/** The maximum number of fenced blocks, and of beginnings of a value within prose, that are tried. */
const MAX_TRIES = 200;

/**
 * Finds the JSON value of a text.
 *
 * The search order is: the whole text, its fenced blocks (those marked `json` first), the first object or array in it.
 * Of several values, the first that `fits` accepts is returned, or the very first if it accepts none.
 *
 * @param fits - Accepts the wanted value, such as a value of a schema.
 */
export function extractJson(text: string, fits: (value: unknown) => boolean = () => true): ExtractedJson {
  const blocks = findFencedBlocks(text);
  const whole = [text, ...blocks.filter(isJson), ...blocks.filter((block) => !isJson(block))];
  const values: unknown[] = [];
  for (const candidate of whole) {
    const parsed = parse(typeof candidate === "string" ? candidate : candidate.text);
    if (!parsed.ok) continue;
    if (fits(parsed.value)) return { type: "found", value: parsed.value };
    values.push(parsed.value);
  }
  const amid = findValueInText(text, fits, values);
  if (amid.type === "found" || values.length === 0) return amid;
  return { type: "found", value: values[0] };
}

type ParseResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

function parse(text: string): ParseResult {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A fenced block of Markdown; the language is empty if the block names none. */
type FencedBlock = { readonly language: string; readonly text: string };

function isJson({ language }: FencedBlock): boolean {
  return /^json/i.test(language);
}

/** Finds the first fenced blocks. A block that is never closed ends with the text. */
export function findFencedBlocks(text: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { fence: string; language: string; lines: string[] } | undefined;
  for (const line of text.split("\n")) {
    if (blocks.length === MAX_TRIES) return blocks;
    const [, fence, language] = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) open = { fence, language: language ?? "", lines: [] };
    } else if (fence?.startsWith(open.fence) === true && language === "") {
      blocks.push({ language: open.language, text: open.lines.join("\n") });
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) blocks.push({ language: open.language, text: open.lines.join("\n") });
  return blocks;
}

/** Distinguishes JSON from a bracket in prose, such as "{see below}" or "[note". All JSON objects and arrays match. */
const BEGINS_LIKE_JSON = /^(?:\{\s*["}]|\[\s*(?:["{[\]]|-?\d|true\b|false\b|null\b))/;

/**
 * Finds a value within prose. A value inside a broken value is only a part of it, so it is never returned.
 *
 * @param seen - Collects values that do not fit.
 */
function findValueInText(text: string, fits: (value: unknown) => boolean, seen: unknown[]): ExtractedJson {
  let failure: ExtractedJson = { type: "missing", reason: "The text holds no JSON object or array." };
  let at = findNextOpener(text, 0);
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; tries++) {
    if (!BEGINS_LIKE_JSON.test(text.slice(at))) {
      at = findNextOpener(text, at + 1);
      continue;
    }
    const end = findBalancedEnd(text, at);
    if (end === -1) {
      const reason = `The JSON that begins at character ${at} does not end.`;
      return failure.type === "missing" ? { type: "cut-off", reason } : failure;
    }
    const parsed = parse(text.slice(at, end));
    if (parsed.ok) {
      if (fits(parsed.value)) return { type: "found", value: parsed.value };
      seen.push(parsed.value);
    } else if (failure.type === "missing") {
      const reason = `What begins at character ${at} is not valid JSON: ${parsed.reason}`;
      failure = { type: "invalid", reason };
    }
    at = findNextOpener(text, end);
  }
  return failure;
}

function findNextOpener(text: string, from: number): number {
  const found = text.slice(from).search(/[{[]/);
  return found === -1 ? -1 : from + found;
}

/** Finds the position after the bracket that closes the one at `start`, ignoring brackets within strings, or -1. */
export function findBalancedEnd(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      depth--;
      if (depth === 0) return index + 1;
    }
  }
  return -1;
}
