import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from "yaml";

/** A value of the front matter, as far as the format of skills uses it. */
export type FrontMatterValue =
  | { readonly type: "text"; readonly text: string }
  /** A number or `true`: the literal text. */
  | { readonly type: "bare"; readonly text: string }
  | { readonly type: "none" }
  | { readonly type: "list"; readonly items: readonly FrontMatterValue[] }
  | { readonly type: "table"; readonly entries: readonly FrontMatterEntry[] }
  | { readonly type: "other" };

export type FrontMatterEntry = {
  readonly key: string;
  readonly line: number;
  readonly value: FrontMatterValue;
};

type FrontMatterEntries = {
  readonly entries: readonly FrontMatterEntry[];
  /** Why the text is not valid YAML. The entries are then read line by line: only name and description (SKL-02). */
  readonly error?: FrontMatterError;
};

type FrontMatterError = { readonly line: number; readonly message: string };

type FrontMatter = { readonly ok: true; readonly body: string } & FrontMatterEntries;
export type FrontMatterResult = FrontMatter | ({ readonly ok: false } & FrontMatterError);

/** More than any author writes. The parser compares each key with every other key, so its input must be small. */
const MAX_FRONT_MATTER_CHARS = 16 * 1024;

const FENCE_LINE = /^---[ \t]*$/;
/** The number of the YAML's first line in its file. */
const FIRST_YAML_LINE = 2;

/** Splits a SKILL.md at its `---` lines, and reads the part between them. Never throws. */
export function readFrontMatter(text: string): FrontMatterResult {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  if (!FENCE_LINE.test(lines[0] ?? "")) {
    return { ok: false, line: 1, message: "the first line must be ---, with name and description below it" };
  }
  const end = lines.findIndex((line, index) => index > 0 && FENCE_LINE.test(line));
  if (end < 0) return { ok: false, line: 1, message: "no second line --- closes what the first one opens" };
  const yaml = lines.slice(1, end).join("\n");
  if (yaml.length > MAX_FRONT_MATTER_CHARS) {
    const message = `the front matter has ${yaml.length} characters; at most ${MAX_FRONT_MATTER_CHARS} are allowed`;
    return { ok: false, line: 1, message };
  }
  return { ok: true, body: lines.slice(end + 1).join("\n"), ...parseEntries(yaml) };
}

function parseEntries(yaml: string): FrontMatterEntries {
  const lineCounter = new LineCounter();
  const lineOf = (offset = 0) => Math.max(lineCounter.linePos(offset).line, 1) + FIRST_YAML_LINE - 1;
  try {
    const { errors, contents } = parseDocument(yaml, {
      lineCounter,
      prettyErrors: false,
      logLevel: "silent",
    });
    const [error] = errors;
    if (error !== undefined) return parseLines(yaml, { line: lineOf(error.pos[0]), message: error.message });
    if (contents === null || (isScalar(contents) && contents.value === null)) return { entries: [] };
    if (isMap(contents)) return { entries: toEntries(contents.items as Pairs, lineOf, 0) };
    return parseLines(yaml, { line: FIRST_YAML_LINE, message: "lines of `key: value` are expected" });
  } catch (error) {
    // The parser recurses once for each level of nesting.
    return parseLines(yaml, {
      line: FIRST_YAML_LINE,
      message: `it cannot be parsed: ${(error as Error).message}`,
    });
  }
}

type Pairs = readonly Pair<Node, Node | null>[];
type LineOf = (offset?: number) => number;

function toEntries(pairs: Pairs, lineOf: LineOf, depth: number): readonly FrontMatterEntry[] {
  return pairs.map(({ key, value }) => ({
    key: isScalar(key) ? String(key.value) : "",
    line: lineOf(key.range?.[0]),
    value: toFrontValue(value, lineOf, depth),
  }));
}

/** Converts two levels, all that the format uses. Aliases are not resolved: they could expand to any size. */
function toFrontValue(node: Node | null, lineOf: LineOf, depth: number): FrontMatterValue {
  if (node === null) return { type: "none" };
  if (isScalar(node)) {
    if (node.value === null) return { type: "none" };
    return typeof node.value === "string"
      ? { type: "text", text: node.value }
      : { type: "bare", text: node.source ?? String(node.value) };
  }
  if (depth > 0) return { type: "other" };
  if (isSeq(node)) {
    return { type: "list", items: node.items.map((item) => toFrontValue(item as Node | null, lineOf, 1)) };
  }
  return isMap(node)
    ? { type: "table", entries: toEntries(node.items as Pairs, lineOf, 1) }
    : { type: "other" };
}

/** Reads the values of lines that begin with `name:` and `description:`, without quotes (SKL-02). */
function parseLines(yaml: string, broken: FrontMatterError): FrontMatterEntries {
  const entries = new Map<string, FrontMatterEntry>();
  for (const [index, line] of yaml.split("\n").entries()) {
    const [, key, rest = ""] = /^(name|description):(.*)$/.exec(line) ?? [];
    const text = unquote(rest.trim());
    // A text that continues on the next lines cannot be read line by line.
    if (key === undefined || /^[|>][-+0-9]*$/.test(text)) continue;
    entries.set(key, { key, line: index + FIRST_YAML_LINE, value: { type: "text", text } });
  }
  return { entries: [...entries.values()], error: broken };
}

function unquote(text: string): string {
  return /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;
}
