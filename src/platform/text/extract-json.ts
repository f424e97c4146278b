// The JSON value in what a model wrote: the whole text, a fenced block, or a value amid prose (PHI-09).

export type ExtractedJson =
  | { readonly type: "found"; readonly value: unknown }
  /** `reason` is a sentence that can be told to a model. */
  | { readonly type: "missing" | "cut-off" | "invalid"; readonly reason: string };

/** Fenced blocks, and beginnings of a value amid prose, that are tried: a text full of them is not worth more. */
const MAX_TRIES = 200;

/**
 * Finds the JSON value of a text.
 *
 * Looked for in this order: the text as it stands, its fenced blocks (those that say `json` first), the first object or
 * array in it. Where several would do, the first that `fits` is taken, and the very first when none does.
 *
 * @param fits - What is looked for, such as a value of a schema.
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
  | { readonly ok: false; readonly why: string };

function parse(text: string): ParseResult {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) };
  }
}

type Block = { readonly language: string; readonly text: string };

function isJson({ language }: Block): boolean {
  return /^json/i.test(language);
}

/** The first ones. A block that was never closed runs to the end. */
function findFencedBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
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

/** Tells a value from a bracket in prose: "{see below}", "[note". No JSON begins in another way. */
const BEGINS_LIKE_JSON = /^(?:\{\s*["}]|\[\s*(?:["{[\]]|-?\d|true\b|false\b|null\b))/;

/**
 * What lies inside a broken value is a piece of what was meant, so it is never taken for the whole.
 *
 * @param seen - Takes values that do not fit.
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
      const reason = `What begins at character ${at} is not valid JSON: ${parsed.why}`;
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

/** Behind the bracket that closes the one at `start`, brackets within strings left aside; -1 without one. */
function findBalancedEnd(text: string, start: number): number {
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
