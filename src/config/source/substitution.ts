import type { Problem } from "../problem.ts";
import { bareValue, type Prepared, type Reference } from "./environment.ts";
import type { Excerpts } from "./excerpts.ts";
import { type Entry, type Node, type Path, pathText, type Span } from "./node.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type SubstitutionOptions = {
  readonly env: Environment;
  /** Whether a value is a secret or may hold one: then a reference stays a reference. */
  readonly isSecret: (path: Path) => boolean;
};

type Scalar = Extract<Node, { type: "scalar" }>;
type Missed = { readonly variable: string; readonly span: Span; readonly path: Path };

/** Puts what variables hold in place of the stand-ins of a parsed text. */
export class Substitution {
  readonly #prepared: Prepared;
  readonly #options: SubstitutionOptions;
  readonly #excerpts: Excerpts;
  /** By path: the variables that a value was made of. */
  readonly variables = new Map<string, readonly string[]>();
  /** Paths of values that could not be made. */
  readonly broken = new Set<string>();
  readonly #missed: Missed[] = [];

  constructor(prepared: Prepared, options: SubstitutionOptions, excerpts: Excerpts) {
    this.#prepared = prepared;
    this.#options = options;
    this.#excerpts = excerpts;
  }

  root(parsed: Node): Node {
    return this.#node(parsed, []);
  }

  get problems(): readonly Problem[] {
    return this.#missed.map((missed) => this.#problem(missed));
  }

  #node(node: Node, path: Path): Node {
    const span = mapped(node.span, this.#prepared);
    switch (node.type) {
      case "list":
        return { ...node, span, items: node.items.map((item, index) => this.#node(item, [...path, index])) };
      case "table": {
        const entries = new Map<string, Entry>();
        for (const [key, entry] of node.entries) {
          const name = this.#asWritten(key);
          const below = this.#node(entry.node, [...path, name]);
          entries.set(name, { key: mapped(entry.key, this.#prepared), node: below });
        }
        return { ...node, span, entries };
      }
      case "scalar": {
        if (!this.#options.isSecret(path)) return { ...node, span, value: this.#scalar(node, path) };
        const letters = this.#letters(node);
        const written = typeof letters === "string" ? this.#asWritten(letters) : letters;
        const value = written === String(node.value) ? node.value : written;
        this.#excerpts.hide(span, value);
        return { ...node, span, value };
      }
    }
  }

  /** A number may have grown too long to be exact: then its letters count. */
  #letters({ value, span: { start, end } }: Scalar) {
    return typeof value === "number" ? this.#prepared.text.slice(start, end) : value;
  }

  #scalar(node: Scalar, path: Path) {
    const { value, bare } = node;
    const written = this.#letters(node);
    if (typeof written !== "string" || written.search(this.#prepared.standIn) < 0) return value;
    const used: string[] = [];
    const text = this.#replaced(written, ({ variable, escaped, written: reference, span }) => {
      if (escaped) return reference.slice(1);
      const held = this.#options.env[variable];
      if (held === undefined) {
        this.broken.add(pathText(path));
        this.#missed.push({ variable, span, path });
      } else used.push(variable);
      return held ?? reference;
    });
    if (used.length > 0) this.variables.set(pathText(path), used);
    return bare ? bareValue(text) : text;
  }

  #problem({ variable, span, path }: Missed): Problem {
    return {
      ...this.#excerpts.at(span),
      kind: "missing-env-var",
      severity: "error",
      field: pathText(path),
      found: `\${${variable}}`,
      variable,
      expected: `a variable that is set; for these letters themselves write $\${${variable}}`,
      message: `The environment variable ${variable} is not set: set it, or write $\${${variable}} for these letters themselves`,
    };
  }

  #asWritten(text: string): string {
    return this.#replaced(text, ({ written }) => written);
  }

  #replaced(text: string, by: (reference: Reference) => string): string {
    return text.replace(this.#prepared.standIn, (digits) => {
      const reference = this.#prepared.references.get(digits);
      return reference === undefined ? digits : by(reference);
    });
  }
}

export function mapped({ start, end }: Span, { original }: Prepared): Span {
  return { start: original(start), end: original(end) };
}
