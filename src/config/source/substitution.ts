import type { Problem } from "../problem.ts";
import type { Excerpts } from "./excerpts.ts";
import { formatPath, type Path, type SourceEntry, type SourceNode, type Span } from "./source-node.ts";
import { type PreparedText, parseBareValue, type Reference } from "./variable-placeholders.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type SubstitutionOptions = {
  readonly env: Environment;
  /** Checks whether a value is a secret or may contain one. References in such values are not substituted. */
  readonly isSecret: (path: Path) => boolean;
};

type Scalar = Extract<SourceNode, { type: "scalar" }>;
type MissingVariable = { readonly variable: string; readonly span: Span; readonly path: Path };

/** Replaces the placeholders of a parsed text by the values of variables. */
export class Substitution {
  readonly #prepared: PreparedText;
  readonly #options: SubstitutionOptions;
  readonly #excerpts: Excerpts;
  /** The variables that each value contains, by path. */
  readonly variables = new Map<string, readonly string[]>();
  /** Paths of values that refer to missing variables. */
  readonly incompletePaths = new Set<string>();
  readonly #missing: MissingVariable[] = [];

  constructor(prepared: PreparedText, options: SubstitutionOptions, excerpts: Excerpts) {
    this.#prepared = prepared;
    this.#options = options;
    this.#excerpts = excerpts;
  }

  substituteRoot(parsed: SourceNode): SourceNode {
    return this.#substituteNode(parsed, []);
  }

  get problems(): readonly Problem[] {
    return this.#missing.map((missed) => this.#createProblem(missed));
  }

  #substituteNode(node: SourceNode, path: Path): SourceNode {
    const span = mapSpan(node.span, this.#prepared);
    switch (node.type) {
      case "list":
        return {
          ...node,
          span,
          items: node.items.map((item, index) => this.#substituteNode(item, [...path, index])),
        };
      case "table": {
        const entries = new Map<string, SourceEntry>();
        for (const [key, entry] of node.entries) {
          const name = this.#restoreText(key);
          const below = this.#substituteNode(entry.node, [...path, name]);
          entries.set(name, { key: mapSpan(entry.key, this.#prepared), node: below });
        }
        return { ...node, span, entries };
      }
      case "scalar": {
        if (!this.#options.isSecret(path))
          return { ...node, span, value: this.#substituteScalar(node, path) };
        const letters = this.#readLetters(node);
        const written = typeof letters === "string" ? this.#restoreText(letters) : letters;
        const value = written === String(node.value) ? node.value : written;
        this.#excerpts.hide(span, value);
        return { ...node, span, value };
      }
    }
  }

  /** Returns the original text of a number, which may be too long for an exact number. */
  #readLetters({ value, span: { start, end } }: Scalar) {
    return typeof value === "number" ? this.#prepared.text.slice(start, end) : value;
  }

  #substituteScalar(node: Scalar, path: Path) {
    const { value, bare } = node;
    const written = this.#readLetters(node);
    if (typeof written !== "string" || written.search(this.#prepared.isPlaceholder) < 0) return value;
    const used: string[] = [];
    const text = this.#replacePlaceholders(written, ({ variable, escaped, written: reference, span }) => {
      if (escaped) return reference.slice(1);
      const variableValue = this.#options.env[variable];
      if (variableValue === undefined) {
        this.incompletePaths.add(formatPath(path));
        this.#missing.push({ variable, span, path });
      } else used.push(variable);
      return variableValue ?? reference;
    });
    if (used.length > 0) this.variables.set(formatPath(path), used);
    return bare ? parseBareValue(text) : text;
  }

  #createProblem({ variable, span, path }: MissingVariable): Problem {
    return {
      ...this.#excerpts.locate(span),
      kind: "missing-env-var",
      severity: "error",
      field: formatPath(path),
      found: `\${${variable}}`,
      variable,
      expected: `a variable that is set; for this text itself, write $\${${variable}}`,
      message: `The environment variable ${variable} is not set: set it, or write $\${${variable}} for this text itself`,
    };
  }

  #restoreText(text: string): string {
    return this.#replacePlaceholders(text, ({ written }) => written);
  }

  #replacePlaceholders(text: string, by: (reference: Reference) => string): string {
    return text.replace(this.#prepared.isPlaceholder, (digits) => {
      const reference = this.#prepared.references.get(digits);
      return reference === undefined ? digits : by(reference);
    });
  }
}

export function mapSpan({ start, end }: Span, { original }: PreparedText): Span {
  return { start: original(start), end: original(end) };
}
