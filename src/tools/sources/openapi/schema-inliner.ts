import { isObject, type JsonObject, truncateText } from "./json.ts";
import { pickKeywords } from "./pick-keywords.ts";
import { isReference, type References, UnresolvedReferenceError } from "./references.ts";
import { sanitiseDocumentText } from "./sanitise-document-text.ts";

// From schemas of OpenAPI 3.0 and 3.1 to the JSON Schema that a model is told: references put in place, what is of
// OpenAPI alone left out. A schema that holds itself is cut off where it comes again, a very deep one where it gets
// too large.

export type ModelSchema = Readonly<Record<string, unknown>>;

/** From generous to bare: the first depth whose outcome is small enough is taken. */
const DEPTHS = [24, 12, 8, 6, 5, 4, 3, 2, 1, 0];
/** A schema is hardly shorter as JSON: references that double at each step are stopped before much is made of them. */
const MIN_NODE_BYTES = 8;
const MAX_NAME_CHARS = 80;

/**
 * Builds `make`'s outcome with the whole schemas, or with less and less of them until it is no longer than allowed.
 * Nothing where it is longer with nothing of them.
 */
export function buildWithinBytes<Made extends object>(
  references: References,
  maxBytes: number,
  make: (inliner: SchemaInliner) => Made,
): { readonly made: Made; readonly isCut: boolean } | undefined {
  for (const depth of DEPTHS) {
    const inliner = new SchemaInliner(references, depth, maxBytes / MIN_NODE_BYTES);
    const result = make(inliner);
    if ((depth === 0 || !inliner.isExhausted) && Buffer.byteLength(JSON.stringify(result)) <= maxBytes) {
      return { made: result, isCut: inliner.isCut };
    }
  }
  return undefined;
}

export class SchemaInliner {
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

  inline(value: unknown): ModelSchema {
    return this.#inlineAt(value, 1, []);
  }

  /** The type that is asked at the top, where one is. */
  getTopType(value: unknown): string | undefined {
    const schema = this.inline(value);
    if (typeof schema["type"] === "string") return schema["type"];
    return isObject(schema["properties"]) ? "object" : undefined;
  }

  #inlineAt(value: unknown, depth: number, above: readonly string[]): ModelSchema {
    this.#nodes += 1;
    if (value === false) return { not: {} };
    if (!isObject(value)) return {};
    if (isReference(value)) return this.#inlineReference(value, depth, above);
    if (depth > this.#maxDepth || this.isExhausted) {
      this.#isCut = true;
      return createPlaceholder(value);
    }
    const inner = (member: unknown) => this.#inlineAt(member, depth + 1, above);
    return pickKeywords(value, { schema: inner, isReadOnly: (member) => this.#isReadOnly(member) });
  }

  #inlineReference(
    { $ref, ...siblings }: JsonObject & { readonly $ref: string },
    depth: number,
    above: readonly string[],
  ): ModelSchema {
    const described =
      typeof siblings["description"] === "string" ? { description: siblings["description"] } : {};
    const target = this.#references.resolve($ref);
    if (above.includes($ref)) {
      const name = truncateText($ref.slice($ref.lastIndexOf("/") + 1), MAX_NAME_CHARS);
      return { ...createPlaceholder(target), description: `Again: ${name}.`, ...described };
    }
    const schema = this.#inlineAt(target, depth, [...above, $ref]);
    return { ...schema, ...described };
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
      if (error instanceof UnresolvedReferenceError) return false;
      throw error;
    }
  }
}

const PLAIN_TYPES = ["string", "number", "integer", "boolean", "array", "object"];

function createPlaceholder(value: unknown): ModelSchema {
  if (!isObject(value)) return {};
  const { type, description } = value;
  return {
    ...(typeof type === "string" && PLAIN_TYPES.includes(type) ? { type } : {}),
    ...(typeof description === "string"
      ? { description: truncateText(sanitiseDocumentText(description), MAX_NAME_CHARS) }
      : {}),
  };
}
