import { isObject, type JsonObject } from "../../../platform/text/json.ts";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import { pickKeywords } from "./pick-keywords.ts";
import { isReference, type References, UnresolvedReferenceError } from "./references.ts";
import { sanitiseDocumentText } from "./sanitise-document-text.ts";

// Converts schemas of OpenAPI 3.0 and 3.1 to the JSON Schema for a model: references are resolved, and keywords that only
// OpenAPI defines are dropped. A recursive schema is cut where it repeats, and a very deep one where it becomes
// too large.

export type ModelSchema = Readonly<Record<string, unknown>>;

/** From deep to shallow: the first depth with a small enough result is used. */
const DEPTHS = [24, 12, 8, 6, 5, 4, 3, 2, 1, 0];
/** A schema is hardly shorter as JSON. This bound stops references that double at each step before they expand far. */
const MIN_NODE_BYTES = 8;
const MAX_NAME_CHARS = 80;

/**
 * Builds the result with the whole schemas, or with fewer levels of them until it is small enough.
 * Returns nothing if it is too large even without them.
 */
export function buildWithinBytes<Made extends object>(
  references: References,
  maxBytes: number,
  make: (inliner: SchemaInliner) => Made,
): { readonly result: Made; readonly isCut: boolean } | undefined {
  for (const depth of DEPTHS) {
    const inliner = new SchemaInliner(references, depth, maxBytes / MIN_NODE_BYTES);
    const result = make(inliner);
    if ((depth === 0 || !inliner.isExhausted) && Buffer.byteLength(JSON.stringify(result)) <= maxBytes) {
      return { result, isCut: inliner.isCut };
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

  /** Whether something was dropped because of its depth. The cut of a recursive schema does not count. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get isExhausted(): boolean {
    return this.#nodes > this.#maxNodes;
  }

  inline(value: unknown): ModelSchema {
    return this.#inlineAt(value, 1, []);
  }

  /** Returns the type at the top level, if the schema declares one. */
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

  /** Whether only the server sets a property. */
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
