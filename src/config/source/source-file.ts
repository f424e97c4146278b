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
import { preparePlaceholders } from "./variable-placeholders.ts";

/** A file that has been read: its values, where each of them stands, and what its variables held. */
export type SourceFile = {
  readonly name: string;
  readonly root: SourceNode;
  /** With variables put in, secrets as references. */
  readonly value: Record<string, unknown>;
  /** By path: the variables that a value was made of. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  /** Paths of values that could not be made: what else is said of them follows from that. */
  readonly broken: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  /** Where a value stands. */
  locate(path: Path): Pick<Problem, "file" | "line" | "column">;
  /** A problem at a key or a value of this file. */
  createProblem(path: Path, about: ProblemDetails): Problem;
};

export type ProblemDetails = Pick<
  Problem,
  "kind" | "severity" | "message" | "expected" | "nearest" | "variable"
> & {
  /** Where it is shown: the value unless said. */
  readonly at?: "key" | "value";
  /** Left out: nothing is said of what was found. */
  readonly found?: unknown;
};

export type SourceResult =
  | { readonly ok: true; readonly source: SourceFile }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export type ReadOptions = SubstitutionOptions & {
  readonly name: string;
  /** Else the file's extension says it, or the first format that fits. */
  readonly format?: SourceFormat | undefined;
};

/** Parses, and puts variables in. */
export function readSource(text: string, options: ReadOptions): SourceResult {
  const written = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  const excerpts = new Excerpts(options.name, written);
  const createFailure = (message: string): SourceResult => ({
    ok: false,
    problems: [{ ...excerpts.locate({ start: 0, end: 0 }), kind: "parse", severity: "error", message }],
  });
  if (written.length > MAX_CHARS)
    return createFailure(`More than ${MAX_CHARS} letters are too many for such a file`);
  if (hasMoreLinesThan(MAX_LINES, written)) {
    return createFailure(`More than ${MAX_LINES} lines are too many for such a file`);
  }
  const prepared = preparePlaceholders(written);
  if (prepared.references.size > MAX_REFERENCES) {
    return createFailure(`More than ${MAX_REFERENCES} references to variables are too many for such a file`);
  }
  const format = options.format ?? getFormat(options.name);
  const triedFormats = format === undefined ? FORMATS : [format];
  let refusal: readonly Problem[] = [];
  for (const candidate of triedFormats) {
    const parsed = parseAs(candidate, prepared.text);
    if (parsed.ok) {
      if (parsed.root.type === "table") {
        const substitution = new Substitution(prepared, options, excerpts);
        return { ok: true, source: createSourceFile(parsed.root, substitution, { options, excerpts }) };
      }
      const message = `A table of sections is expected at the top, found ${formatFound(toPlainValue(parsed.root))}`;
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

/** A parser that goes down with each level of a text runs out of room on a deep one. */
function parseAs(format: SourceFormat, text: string): ParseResult {
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

/** Level by level: the deepest text must not be the one that this runs out of room on. */
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
  { options, excerpts }: { readonly options: ReadOptions; readonly excerpts: Excerpts },
): SourceFile {
  const root = substitution.substituteRoot(parsed);
  return {
    name: options.name,
    root,
    value: toPlainValue(root) as Record<string, unknown>,
    variables: substitution.variables,
    broken: substitution.hasMissingVariables,
    problems: substitution.problems,
    locate: (path) => excerpts.locate(findValueSpan(root, path)),
    createProblem: (path, { at, found, ...about }) => ({
      ...about,
      ...excerpts.locate(at === "key" ? findKeySpan(root, path) : findValueSpan(root, path)),
      ...(path.length === 0 ? {} : { field: formatPath(path) }),
      ...(found === undefined || options.isSecret(path) ? {} : { found: formatFound(found) }),
    }),
  };
}
