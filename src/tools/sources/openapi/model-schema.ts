import { isObject, type JsonObject, shortened } from "./json.ts";
import { plain } from "./plain.ts";
import { isReference, type References, UnresolvedError } from "./references.ts";
import { keywordsOf } from "./schema-keywords.ts";

// From schemas of OpenAPI 3.0 and 3.1 to the JSON Schema that a model is told: references put in place, what is of
// OpenAPI alone left out. A schema that holds itself is cut off where it comes again, a very deep one where it gets
// too large.

export type ModelSchema = Readonly<Record<string, unknown>>;

/** From generous to bare: the first depth whose outcome is small enough is taken. */
const DEPTHS = [24, 12, 8, 6, 5, 4, 3, 2, 1, 0];
/** A schema is hardly shorter as JSON: references that double at each step are stopped before much is made of them. */
const MIN_BYTES = 8;
const MAX_NAME = 80;

/**
 * Builds `make`'s outcome with the whole schemas, or with less and less of them until it is no longer than allowed.
 * Nothing where it is longer with nothing of them.
 */
export function withinBytes<Made extends object>(
  references: References,
  maxBytes: number,
  make: (inliner: Inliner) => Made,
): { readonly made: Made; readonly isCut: boolean } | undefined {
  for (const depth of DEPTHS) {
    const inliner = new Inliner(references, depth, maxBytes / MIN_BYTES);
    const made = make(inliner);
    if ((depth === 0 || !inliner.isExhausted) && Buffer.byteLength(JSON.stringify(made)) <= maxBytes) {
      return { made, isCut: inliner.isCut };
    }
  }
  return undefined;
}

export class Inliner {
  readonly #references: References;
  readonly #maxDepth: number;
  readonly #maxNodes: number;
  #nodes = 0;
  #isCut = false;

  constructor(references: References, maxDepth: number, maxNodes: number) {
    this.#references = references;
    this.#maxDepth = maxDepth;
    this.#maxNodes = maxNodes;
  }

  /** Something was left out because of its depth. A schema that comes again within itself is not meant by it. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get isExhausted(): boolean {
    return this.#nodes > this.#maxNodes;
  }

  schema(value: unknown): ModelSchema {
    return this.#schema(value, 1, []);
  }

  /** The type that is asked at the top, where one is. */
  topType(value: unknown): string | undefined {
    const schema = this.schema(value);
    if (typeof schema["type"] === "string") return schema["type"];
    return isObject(schema["properties"]) ? "object" : undefined;
  }

  #schema(value: unknown, depth: number, above: readonly string[]): ModelSchema {
    this.#nodes += 1;
    if (value === false) return { not: {} };
    if (!isObject(value)) return {};
    if (isReference(value)) return this.#referred(value, depth, above);
    if (depth > this.#maxDepth || this.isExhausted) {
      this.#isCut = true;
      return standIn(value);
    }
    const inner = (member: unknown) => this.#schema(member, depth + 1, above);
    return keywordsOf(value, { schema: inner, isReadOnly: (member) => this.#isReadOnly(member) });
  }

  #referred(
    { $ref, ...siblings }: JsonObject & { readonly $ref: string },
    depth: number,
    above: readonly string[],
  ): ModelSchema {
    const said = typeof siblings["description"] === "string" ? { description: siblings["description"] } : {};
    const target = this.#references.at($ref);
    if (above.includes($ref)) {
      const name = shortened($ref.slice($ref.lastIndexOf("/") + 1), MAX_NAME);
      return { ...standIn(target), description: `Again: ${name}.`, ...said };
    }
    const schema = this.#schema(target, depth, [...above, $ref]);
    return { ...schema, ...said };
  }

  /** Whether a property is the server's to say. */
  #isReadOnly(property: unknown): boolean {
    if (!isObject(property)) return false;
    if (property["readOnly"] === true) return true;
    if (!isReference(property)) return false;
    try {
      const target = this.#references.follow(property);
      return isObject(target) && target["readOnly"] === true;
    } catch (error) {
      if (error instanceof UnresolvedError) return false;
      throw error;
    }
  }
}

const PLAIN = ["string", "number", "integer", "boolean", "array", "object"];

function standIn(value: unknown): ModelSchema {
  if (!isObject(value)) return {};
  const { type, description } = value;
  return {
    ...(typeof type === "string" && PLAIN.includes(type) ? { type } : {}),
    ...(typeof description === "string" ? { description: shortened(plain(description), MAX_NAME) } : {}),
  };
}
