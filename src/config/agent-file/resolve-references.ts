import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import type { SourceFile } from "../source/source-file.ts";
import type { Path, Step } from "../source/source-node.ts";
import { getListAt } from "./table-paths.ts";

// `{{type.name}}`, `{{name}}`, `{{%type.name%}}`, `{{%name%}}`, `{{#id#}}` and plain names (CFG-13, CFG-14, X-32).
// A definition is a value, so creating an entity and reusing an existing one give the same result.

/** The tables that declare the entities of a namespace, and the keys that may name them. */
const DECLARATIONS = {
  agent_profile: [{ at: ["agent", "profile", "instances"], names: ["id"] }],
  provider: [{ at: ["provider", "instances"], names: ["id", "name"] }],
  sub_agent: [{ at: ["sub_agents", "instances"], names: ["id", "name"] }],
  compaction: [
    { at: ["compaction", "instances"], names: ["id"] },
    { at: ["context", "compaction", "instances"], names: ["id"] },
  ],
  system_prompt: [{ at: ["system_prompt", "instances"], names: ["id"] }],
  system_prompt_strategy: [{ at: ["system_prompt_strategy", "instances"], names: ["id"] }],
} as const satisfies Record<string, readonly { at: readonly string[]; names: readonly string[] }[]>;

export type Namespace = keyof typeof DECLARATIONS;
const NAMESPACES = Object.keys(DECLARATIONS) as readonly Namespace[];

/** A named entity that a file declares. */
export type Entity = {
  readonly namespace: Namespace;
  readonly name: string;
  /** Declared as `{{#id#}}`; only that form refers to it. */
  readonly literal: boolean;
  readonly path: Path;
  readonly table: JsonObject;
};

/** @testonly */
export type Reference = {
  readonly namespace?: string;
  readonly name: string;
  readonly literal: boolean;
};

export function isReference(text: string): boolean {
  return /^\s*\{\{.*\}\}\s*$/.test(text);
}

/** Parses a reference. A plain name is a reference without a namespace. */
function parseReference(text: string, entities: readonly Entity[] = []): Reference {
  const inner = (/^\s*\{\{(.*)\}\}\s*$/.exec(text)?.[1] ?? text).trim();
  const literal = /^#(.+)#$/.exec(inner)?.[1];
  if (literal !== undefined) return { name: literal.trim(), literal: true };
  const name = (/^%(.+)%$/.exec(inner)?.[1] ?? inner).trim();
  const dot = name.indexOf(".");
  const isWhole = dot < 0 || entities.some((entity) => entity.name === name);
  return isWhole
    ? { name, literal: false }
    : { namespace: name.slice(0, dot), name: name.slice(dot + 1), literal: false };
}

export class References {
  readonly #source: SourceFile;
  readonly entities: readonly Entity[];
  readonly #report: ReportUnresolved;

  constructor(source: SourceFile, report: ReportUnresolved) {
    this.#source = source;
    this.#report = report;
    this.entities = NAMESPACES.flatMap((namespace) => this.#readDeclared(namespace));
    this.#reportDuplicates();
  }

  listEntities(namespace: Namespace): readonly Entity[] {
    return this.entities.filter((entity) => entity.namespace === namespace);
  }

  /** Resolves a reference. If it cannot be resolved, reports a problem at the path and returns `undefined`. */
  resolve(text: string, wanted: Namespace, path: Path): Entity | undefined {
    const { namespace, name, literal } = parseReference(text, this.entities);
    const known = this.listEntities(wanted).map((entity) => entity.name);
    const reportUnresolved = (message: string, candidates: readonly string[] = known): undefined => {
      const nearest = findNearestName(name, candidates);
      this.#report(path, {
        message: message + formatHint(nearest, candidates),
        found: text,
        wanted,
        nearest,
      });
    };
    if (namespace !== undefined && namespace !== wanted) {
      if ((NAMESPACES as readonly string[]).includes(namespace)) {
        return reportUnresolved(`${text} is a ${namespace}, but a ${wanted} is expected here`, []);
      }
      const near = findNearestName(namespace, NAMESPACES);
      return reportUnresolved(
        `there is no namespace "${namespace}"${near === undefined ? "" : `; did you mean "{{${near}.${name}}}"?`} (known are ${NAMESPACES.join(", ")})`,
        [],
      );
    }
    const named = this.entities.filter((entity) => entity.name === name && entity.literal === literal);
    const found = namespace === undefined ? named : named.filter((entity) => entity.namespace === namespace);
    if (found.length === 0) return reportUnresolved(`there is no ${wanted} "${name}" in this file`);
    if (new Set(found.map((entity) => entity.namespace)).size > 1) {
      const alternatives = found.map((entity) => `{{${entity.namespace}.${name}}}`).join(" or ");
      return reportUnresolved(`"${name}" is ambiguous: write ${alternatives}`, []);
    }
    const [entity] = found;
    if (entity!.namespace === wanted) return entity;
    return reportUnresolved(`"${name}" is a ${entity!.namespace}, but a ${wanted} is expected here`, []);
  }

  #readDeclared(namespace: Namespace): readonly Entity[] {
    return DECLARATIONS[namespace]
      .flatMap(({ at, names }) =>
        getListAt(this.#source.value, at).flatMap((table, index) => {
          const path: readonly Step[] = [...at, index];
          const key = names.find((candidate) => isObject(table) && typeof table[candidate] === "string");
          if (key === undefined || !isObject(table)) return [];
          const text = table[key] as string;
          const given = parseReference(key === "id" ? text : `{{%${text}%}}`);
          const misplaced = given.namespace !== undefined && given.namespace !== namespace;
          if (misplaced && (NAMESPACES as readonly string[]).includes(given.namespace!)) {
            const message = `this table declares a ${namespace}, not a ${given.namespace}`;
            this.#report([...path, key], { message, found: text, wanted: namespace, nearest: undefined });
          }
          const name = misplaced ? `${given.namespace}.${given.name}` : given.name;
          return [{ namespace, name, literal: given.literal, path: [...path, key], table }];
        }),
      )
      .map((entity) => ({ ...entity, path: entity.path.slice(0, -1) }));
  }

  #reportDuplicates(): void {
    const seen = new Set<string>();
    for (const { namespace, name, literal, path } of this.entities) {
      const key = `${namespace} ${literal} ${name}`;
      if (seen.has(key)) {
        this.#report([...path, "id"], {
          message: `another ${namespace} above has the name "${name}"`,
          found: name,
          wanted: namespace,
          nearest: undefined,
        });
      }
      seen.add(key);
    }
  }
}

/** Reports an unresolved reference, with the name that was probably meant. */
export type ReportUnresolved = (
  path: Path,
  about: {
    readonly message: string;
    readonly found: string;
    readonly wanted: Namespace;
    readonly nearest: string | undefined;
  },
) => void;

function formatHint(nearest: string | undefined, known: readonly string[]): string {
  if (nearest !== undefined) return `; did you mean "${nearest}"?`;
  return known.length === 0 ? "" : ` (known are ${known.join(", ")})`;
}
