import { formatFound, type Problem } from "../problem.ts";
import { Excerpts } from "./excerpts.ts";
import {
  createParseFailure,
  MAX_CHARS,
  MAX_DEPTH,
  MAX_KEYS,
  MAX_LINES,
  MAX_REFERENCES,
  type ParseResult,
  TOO_DEEP,
} from "./parse-result.ts";
import { FORMATS, getFormat, PARSERS, type SourceFormat } from "./source-format.ts";
import {
  findKeySpan,
  findValueSpan,
  formatPath,
  type Path,
  type SourceNode,
  toPlainValue,
} from "./source-node.ts";
import { mapSpan, Substitution, type SubstitutionOptions } from "./substitution.ts";
import { keepPlaceholders, preparePlaceholders } from "./variable-placeholders.ts";

/** A file that has been read: its values, their positions, and the variables that they contain. */
export type SourceFile = {
  readonly name: string;
  readonly format: SourceFormat;
  readonly root: SourceNode;
  /** The value with variables substituted; secrets stay references. */
  readonly value: Record<string, unknown>;
  /** The variables that each value contains, by path. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  /** Paths of values that refer to missing variables. Other problems of these values are ignored. */
  readonly hasMissingVariables: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  /** Returns the position of a value. */
  locate(path: Path): Pick<Problem, "file" | "line" | "column">;
  /** Creates a problem at a key or a value of this file. */
  createProblem(path: Path, about: ProblemDetails): Problem;
};

export type ProblemDetails = Pick<
  Problem,
  "kind" | "severity" | "message" | "expected" | "nearest" | "variable"
> & {
  /** The position that is displayed: the value by default. */
  readonly path?: "key" | "value";
  /** The value that was found. If absent, the problem does not display it. */
  readonly found?: unknown;
};

export type SourceResult =
  | { readonly ok: true; readonly source: SourceFile }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export type ReadOptions = SubstitutionOptions & {
  readonly name: string;
  /** By default the format of the file's extension, or else the first format that fits. */
  readonly format?: SourceFormat | undefined;
  /** What a file of this kind has, for a text that is no table. */
  readonly hint?: string | undefined;
  /** Whether `${NAME}` stands for a variable, as it does by default, or is plain text. */
  readonly substitutes?: boolean | undefined;
};

/** Parses a text and substitutes variables. */
export function readSource(text: string, options: ReadOptions): SourceResult {
  const written = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  const excerpts = new Excerpts(options.name, written);
  const createFailure = (message: string): SourceResult => ({
    ok: false,
    problems: [{ ...excerpts.locate({ start: 0, end: 0 }), kind: "parse", severity: "error", message }],
  });
  if (/^\uFFFD|\0/.test(text))
    return createFailure("The file is not text in UTF-8: save it in that encoding");
  if (written.length > MAX_CHARS)
    return createFailure(`The file has more than ${MAX_CHARS} characters, the maximum`);
  if (hasMoreLinesThan(MAX_LINES, written)) {
    return createFailure(`The file has more than ${MAX_LINES} lines, the maximum`);
  }
  const prepared = options.substitutes === false ? keepPlaceholders(written) : preparePlaceholders(written);
  if (prepared.references.size > MAX_REFERENCES) {
    return createFailure(`The file has more than ${MAX_REFERENCES} references to variables, the maximum`);
  }
  const format = options.format ?? getFormat(options.name);
  const triedFormats = format === undefined ? FORMATS : [format];
  let refusal: readonly Problem[] = [];
  for (const candidate of triedFormats) {
    const parsed = parseAs(candidate, prepared.text);
    if (parsed.ok) {
      if (parsed.root.type === "table") {
        const substitution = new Substitution(prepared, options, excerpts);
        return {
          ok: true,
          source: createSourceFile(parsed.root, substitution, { options, format: candidate, excerpts }),
        };
      }
      const found = formatFound(toPlainValue(parsed.root));
      const message = `The file must be a table of sections, found ${found}${options.hint === undefined ? "" : `: ${options.hint}`}`;
      refusal = [{ ...excerpts.locate({ start: 0, end: 0 }), kind: "parse", severity: "error", message }];
    } else if (refusal.length === 0) {
      refusal = parsed.problems.map(({ span, message }) => ({
        ...excerpts.locate(mapSpan(span, prepared)),
        kind: "parse" as const,
        severity: "error" as const,
        message: `This is not ${candidate.toUpperCase()}: ${message}`,
      }));
    }
  }
  return { ok: false, problems: refusal };
}

function hasMoreLinesThan(most: number, text: string): boolean {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines > most) return true;
  }
  return false;
}

/**
 * Parses a text. A recursive parser exceeds the stack on a deep text, which most often throws, but ends the process where the
 * engine compiles a regular expression at that moment: so a text with that many brackets is rejected before.
 */
function parseAs(format: SourceFormat, text: string): ParseResult {
  if (hasManyOpenBrackets(text)) return createParseFailure({ start: 0, end: 0 }, TOO_DEEP);
  try {
    const parsed = PARSERS[format](text);
    if (!parsed.ok) {
      const isLost = parsed.problems.some(({ message }) => message.includes("call stack"));
      return isLost ? createParseFailure({ start: 0, end: 0 }, TOO_DEEP) : parsed;
    }
    const size = measureNode(parsed.root);
    if (size.depth > MAX_DEPTH) return createParseFailure({ start: 0, end: 0 }, TOO_DEEP);
    if (size.nodes > MAX_KEYS)
      return createParseFailure({ start: 0, end: 0 }, `More than ${MAX_KEYS} keys and values`);
    return parsed;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return createParseFailure({ start: 0, end: 0 }, TOO_DEEP);
  }
}

/** More brackets than this are open in no file that a person writes, those in its texts included. */
const MAX_OPEN_BRACKETS = 2000;

/** Returns whether brackets, or the parts of a key in brackets, nest deeper than a recursive parser may go. */
function hasManyOpenBrackets(text: string): boolean {
  let open = 0;
  let parts = 0;
  for (const char of text) {
    if (char === "[" || char === "{") {
      open += 1;
      parts = 0;
    } else if (char === "]" || char === "}") open = Math.max(0, open - 1);
    else if (char === "." && open > 0) parts += 1;
    else if (char === " " || char === "\n") parts = 0;
    if (open > MAX_OPEN_BRACKETS || parts > MAX_OPEN_BRACKETS) return true;
  }
  return false;
}

/** Measures a tree level by level, because recursion could exceed the stack on a deep text. */
function measureNode(root: SourceNode): { readonly depth: number; readonly nodes: number } {
  let level: readonly SourceNode[] = [root];
  let depth = 0;
  let nodes = 0;
  while (level.length > 0 && depth <= MAX_DEPTH && nodes <= MAX_KEYS) {
    nodes += level.length;
    depth += 1;
    level = level.flatMap((node) =>
      node.type === "list"
        ? node.items
        : node.type === "table"
          ? [...node.entries.values()].map((entry) => entry.node)
          : [],
    );
  }
  return { depth, nodes };
}

function createSourceFile(
  parsed: SourceNode,
  substitution: Substitution,
  {
    options,
    format,
    excerpts,
  }: { readonly options: ReadOptions; readonly format: SourceFormat; readonly excerpts: Excerpts },
): SourceFile {
  const root = substitution.substituteRoot(parsed);
  return {
    name: options.name,
    format,
    root,
    value: toPlainValue(root) as Record<string, unknown>,
    variables: substitution.variables,
    hasMissingVariables: substitution.incompletePaths,
    problems: substitution.problems,
    locate: (path) => excerpts.locate(findValueSpan(root, path)),
    createProblem: (path, { path: at, found, ...about }) => ({
      ...about,
      ...excerpts.locate(at === "key" ? findKeySpan(root, path) : findValueSpan(root, path)),
      ...(path.length === 0 ? {} : { field: formatPath(path) }),
      ...(found === undefined || options.isSecret(path) ? {} : { found: formatFound(found) }),
    }),
  };
}
