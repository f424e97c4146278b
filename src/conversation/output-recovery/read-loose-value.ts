import { MAX_JSON_DEPTH } from "../../platform/text/json-depth.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";
import {
  BROKEN,
  isAtEnd,
  type LooseSource,
  MISSING,
  markCut,
  type OpenContainer,
  skipSpace,
} from "./loose-source.ts";
import { findKnownField, findShape, getFieldSchema, hasKnownFields } from "./object-shape.ts";
import { readBareValue } from "./read-bare-value.ts";
import { endsWithinKey, type ReadKey, readKey } from "./read-key.ts";
import { beginsQuoted, readQuoted } from "./read-quoted.ts";
import { spend } from "./step-budget.ts";

// Reads what a model meant as JSON. Nothing that it wrote is skipped but comments and punctuation: a text that would lose
// a word is BROKEN.

export type LooseRead = unknown | typeof BROKEN | typeof MISSING;

/** What stands around a value and its name is looked at. */
const STEPS_OF_VALUE = 50;

export function readLooseValue(source: LooseSource, schema: unknown): LooseRead {
  if (!spend(source.budget, STEPS_OF_VALUE)) return BROKEN;
  skipSpace(source);
  if (isAtEnd(source)) {
    markCut(source);
    return MISSING;
  }
  const char = source.text[source.at];
  if (char !== "{" && char !== "[" && beginsFieldOf(findShape(schema, source.root), source)) {
    source.repairs.add("missing brackets added");
    return readLooseObject(source, schema);
  }
  if (char !== "{" && char !== "[") return beginsQuoted(source) ? readQuoted(source) : readBareValue(source);
  if (source.open.length >= MAX_JSON_DEPTH) return BROKEN;
  source.at += 1;
  return char === "{" ? readLooseObject(source, schema) : readList(source, schema);
}

/** Reports whether the bracket of an object is missing: one of its fields begins. */
function beginsFieldOf(shape: JsonSchema | undefined, { text, at, open }: LooseSource): boolean {
  if (!hasKnownFields(shape) || open.length >= MAX_JSON_DEPTH) return false;
  const key = readKey(text, at);
  return key !== undefined && key.isColonMissing !== true && findKnownField(key.name, shape) !== undefined;
}

/** Reads the fields of an object whose opening bracket is read. */
export function readLooseObject(source: LooseSource, schema: unknown): LooseRead {
  const shape = findShape(schema, source.root);
  const container: OpenContainer = { type: "object", shape, names: new Set() };
  source.open.push(container);
  const fields = new Map<string, unknown>();
  const isWhole = readFields(source, container, fields);
  source.open.pop();
  return isWhole ? Object.fromEntries(fields) : BROKEN;
}

function readFields(source: LooseSource, container: OpenContainer, fields: Map<string, unknown>): boolean {
  for (;;) {
    delete container.key;
    const commas = skipCommas(source);
    if (isAtEnd(source)) return endEarly(source);
    const char = source.text[source.at]!;
    if (char === "}" || char === "]") {
      noteCommas(source, commas, fields.size, true);
      if (isSuperfluous(source, char, "object")) continue;
      if (!closeBracket(source, char, "object")) return true;
      if ((char === "}" && source.open.length > 1) || !isFollowedByField(source, container)) return true;
      source.repairs.add("superfluous brackets removed");
      continue;
    }
    if (char === "{" && fields.size === 0) {
      source.at += 1;
      source.repairs.add("superfluous brackets removed");
      continue;
    }
    if (char === "{" && source.open.at(-2)?.type === "list") return closeImplicitly(source);
    const start = source.at;
    const key = readKey(source.text, start);
    if (key === undefined) return endsWithinKey(source.text, start) ? endEarly(source, true) : false;
    const name = chooseName(key, source, container, commas > 0 || fields.size === 0);
    if (name === undefined) return false;
    if (belongsToOuter(name, source, container)) return closeImplicitly(source);
    if (isCommaInside(source, commas, fields.size)) return false;
    noteCommas(source, commas, fields.size, false);
    if (key.repair !== undefined) source.repairs.add(key.repair);
    source.at = key.end;
    container.key = name;
    const schema = chooseSchema(name, source, container);
    const first = readLooseValue(source, schema);
    const value = isListWithoutBracket(first, schema, source) ? readList(source, schema, [first]) : first;
    if (value === BROKEN) return false;
    if (value === MISSING) return endEarly(source);
    if (fields.has(name) && JSON.stringify(fields.get(name)) !== JSON.stringify(value)) return false;
    fields.set(name, value);
    container.names.add(findKnownField(name, container.shape) ?? name);
    if (source.cut !== undefined) return true;
  }
}

/** Returns the name, or `undefined` where it may be a word of a text whose quotes are not escaped. */
function chooseName(
  key: ReadKey,
  source: LooseSource,
  { shape }: OpenContainer,
  isAfterComma: boolean,
): string | undefined {
  // The quote that ends the text before it may be the one that it lacks.
  if (!isAfterComma && key.isQuoteMissing === true && source.text[source.at - 1] === '"') return undefined;
  const isKnown = findKnownField(key.name, shape) !== undefined;
  if (isKnown || (isAfterComma && key.repair === undefined)) return key.name;
  return hasKnownFields(shape) || key.isColonMissing === true ? undefined : key.name;
}

/** An unknown field of the outermost object may hold the value: its fields are those of the root. */
function chooseSchema(name: string, { open, root }: LooseSource, { shape }: OpenContainer): unknown {
  const isUnknown = hasKnownFields(shape) && findKnownField(name, shape) === undefined;
  return isUnknown && open.length === 1 ? root : getFieldSchema(shape, name);
}

/** Reports whether a bracket is missing before this name: it is a field of an enclosing object, which has none yet. */
function belongsToOuter(name: string, { open }: LooseSource, { shape }: OpenContainer): boolean {
  if (!hasKnownFields(shape) || findKnownField(name, shape) !== undefined) return false;
  return open.slice(0, -1).some((outer) => {
    const known = outer.type === "object" ? findKnownField(name, outer.shape) : undefined;
    return known !== undefined && !outer.names.has(known);
  });
}

/** Reports whether a bracket was one too many: another field of the same object follows. */
function isFollowedByField({ text, at }: LooseSource, { shape, names }: OpenContainer): boolean {
  const comma = /^\s*,\s*/.exec(text.slice(at, at + 100))?.[0];
  if (comma === undefined) return false;
  const key = readKey(text, at + comma.length);
  const known = key === undefined ? undefined : findKnownField(key.name, shape);
  return known !== undefined && !names.has(known);
}

/** Reports whether more items of a list follow, whose opening bracket is missing. */
function isListWithoutBracket(
  first: LooseRead,
  schema: unknown,
  { text, at, root, cut }: LooseSource,
): boolean {
  if (typeof first === "symbol" || Array.isArray(first) || cut !== undefined) return false;
  const shape = findShape(schema, root);
  if (shape?.["items"] === undefined || shape["properties"] !== undefined) return false;
  const comma = /^\s*,\s*(?=["'{])/.exec(text.slice(at, at + 200))?.[0];
  return (
    comma !== undefined && (text[at + comma.length] === "{" || readKey(text, at + comma.length) === undefined)
  );
}

/** @param items - Items that are read already. */
function readList(source: LooseSource, schema: unknown, items: unknown[] = []): LooseRead {
  const shape = findShape(schema, source.root);
  const container: OpenContainer = { type: "list", shape, names: new Set() };
  source.open.push(container);
  if (items.length > 0) source.repairs.add("missing brackets added");
  const isWhole = readItems(source, container, items);
  source.open.pop();
  return isWhole ? items : BROKEN;
}

function readItems(source: LooseSource, container: OpenContainer, items: unknown[]): boolean {
  for (;;) {
    container.key = items.length;
    const from = source.at;
    const commas = skipCommas(source);
    if (isAtEnd(source)) return endEarly(source);
    const char = source.text[source.at]!;
    if (char === "}" || char === "]") {
      noteCommas(source, commas, items.length, true);
      if (isSuperfluous(source, char, "list")) continue;
      closeBracket(source, char, "list");
      return true;
    }
    if (char === "[" && items.length === 0 && isDoubled(source, container)) {
      source.at += 1;
      source.repairs.add("superfluous brackets removed");
      continue;
    }
    if (beginsOuterField(source)) return closeImplicitly(source);
    if (commas === 0 && items.length > 0 && !/[\s"'{[]/.test(source.text.slice(from, from + 1))) return false;
    if (isCommaInside(source, commas, items.length)) return false;
    noteCommas(source, commas, items.length, false);
    const value = readLooseValue(source, container.shape?.["items"]);
    if (value === BROKEN) return false;
    if (value === MISSING) return endEarly(source);
    items.push(value);
    if (source.cut !== undefined) return true;
  }
}

/** Reports whether the list's bracket is missing: a field of the object around it follows. */
function beginsOuterField({ text, at, open }: LooseSource): boolean {
  const outer = open.at(-2);
  if (outer?.type !== "object" || text[at] === "{" || text[at] === "[") return false;
  const key = readKey(text, at);
  return (
    key !== undefined && key.isColonMissing !== true && findKnownField(key.name, outer.shape) !== undefined
  );
}

function skipCommas(source: LooseSource): number {
  let commas = 0;
  for (;;) {
    skipSpace(source);
    const char = source.text[source.at];
    if (char === undefined || !",;\uff0c".includes(char)) return commas;
    if (char !== ",") source.repairs.add("other separators read as commas");
    commas += 1;
    source.at += 1;
  }
}

/** Reports whether a comma that is missing stands within the quotes before it. */
function isCommaInside({ text, at }: LooseSource, commas: number, before: number): boolean {
  return commas === 0 && before > 0 && /[,;]\\?["'`\u201d]\s*$/.test(text.slice(Math.max(0, at - 50), at));
}

function noteCommas({ repairs }: LooseSource, commas: number, before: number, isLast: boolean): void {
  const wanted = before === 0 || isLast ? 0 : 1;
  if (commas > wanted) repairs.add("superfluous commas removed");
  if (commas < wanted) repairs.add("missing commas added");
}

/** Reports whether the opening bracket of a list is there twice: its items are no lists. */
function isDoubled({ text, at, root }: LooseSource, { shape }: OpenContainer): boolean {
  if (shape === undefined || text[at + 1] === "]") return false;
  return findShape(shape["items"], root)?.["items"] === undefined;
}

/** Takes a bracket of the other kind that is one too many: what follows is the end of the item around it. */
function isSuperfluous(source: LooseSource, char: string, type: "object" | "list"): boolean {
  if (char === (type === "object" ? "}" : "]")) return false;
  const rest = source.text.slice(source.at + 1, source.at + 200);
  const isOneTooMany = type === "object" ? /^\s*\}\s*(?:,\s*\{|\])/ : /^\s*(?:,\s*\{|\])/;
  if (!isOneTooMany.test(rest)) return false;
  source.at += 1;
  source.repairs.add("superfluous brackets removed");
  return true;
}

/** Takes the bracket if it is this container's. Returns `false` where it is another's, which stays. */
function closeBracket(source: LooseSource, char: string, type: "object" | "list"): boolean {
  const own = type === "object" ? "}" : "]";
  if (char !== own && source.open.slice(0, -1).some((outer) => outer.type !== type)) {
    source.repairs.add("missing brackets added");
    return false;
  }
  if (char !== own) source.repairs.add("wrong brackets replaced");
  source.at += 1;
  return true;
}

function closeImplicitly(source: LooseSource): true {
  source.repairs.add("missing brackets added");
  return true;
}

/** @param isWithin - A name is cut off, and left out. */
function endEarly(source: LooseSource, isWithin = false): true {
  if (isWithin) source.at = source.text.length;
  markCut(source);
  source.repairs.add("missing brackets at the end added");
  return true;
}
