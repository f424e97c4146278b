import { findNearestName } from "../../platform/text/nearest-name.ts";
import type { Tool } from "../tool.ts";
import { coerceToSchema } from "./coerce-to-schema.ts";
import { describeSchemaErrors, formatMismatch, formatName } from "./describe-schema-errors.ts";
import { findDroppedFields } from "./find-dropped-fields.ts";
import { readLooseObject } from "./read-loose-json.ts";
import { resolveToolName } from "./resolve-tool-name.ts";
import { getProperties } from "./schema-type.ts";

// What becomes of a call that is not quite right, by this table:
//
//   found                                             | becomes
//   --------------------------------------------------|------------------------------------------------------
//   a tool's exact name, arguments that fit           | itself
//   a name that differs in case or in - _ . and space | that tool, when the name fits exactly one
//   an alias (the tool's own, or a built-in one)      | that tool, when the name fits exactly one
//   JSON text where the arguments are asked           | the object that it is the JSON of
//   loose JSON, or JSON cut off behind a whole value  | the repaired object, when no text is lost or made up
//   a number or boolean given as text, and the reverse| the type that is asked, when exact
//   JSON text where an object or a list is asked      | the object or list
//   null for an optional field                        | no field
//   a field that the schema does not know             | no field, with a note; not in arguments that were repaired
//   anything else                                     | one message that names field, found and expected
//
// "When exact": turned back, it is the same text or value. "No text is lost": see recovery/keeps-text.ts.
//
// Only what does not fit is touched, and the tool's own `parse` has the last word on every row. The stored answer
// stays as the model wrote it: this is a function of what it wrote and of the tools, asked again where it is needed.

export type WrittenCall = { readonly name: string; readonly arguments: unknown };

export type RepairedArguments = {
  /** As the tool's `parse` gives it. */
  readonly value: unknown;
  /** What was done, a few words each; empty when nothing was. */
  readonly notes: readonly string[];
  /** Unknown fields that were left out, by path: a part of the notes that the model should know too. */
  readonly dropped: readonly string[];
};

export type RepairedCall = RepairedArguments & { readonly tool: Tool };

/** Why nothing can be made of it, for the model. */
export type RejectedCall = { readonly message: string };

export function repairCall(call: WrittenCall, tools: readonly Tool[]): RepairedCall | RejectedCall {
  const tool = resolveToolName(call.name, tools);
  if (tool === undefined) return { message: describeUnknownTool(call.name, tools) };
  const repaired = repairArguments(call.arguments, tool);
  if ("message" in repaired) return repaired;
  return { ...repaired, tool, notes: [...describeNameRepair(call.name, tool), ...repaired.notes] };
}

/** What to say of a name that is not the tool's own. */
export function describeNameRepair(name: string, tool: Tool): readonly string[] {
  return name === tool.name ? [] : [`${formatName(name)}: read as ${tool.name}`];
}

function describeUnknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const near = findNearestName(formatName(name), names);
  const known = names.length === 0 ? "no tools" : `one of ${names.join(", ")}`;
  const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
  return formatMismatch("tool", `the unknown name "${formatName(name)}"`, `${known}${suggestion}`);
}

export function repairArguments(written: unknown, tool: Tool): RepairedArguments | RejectedCall {
  const asWritten = tool.parse(written);
  if (asWritten.ok) return acceptArguments(written, asWritten.value, [], [], tool);

  const read = typeof written === "string" ? readLooseObject(written) : undefined;
  if (read?.ok === false)
    return { message: formatMismatch("arguments", read.found, describeExpectedFields(tool)) };
  const given = read === undefined ? written : read.value;
  const coerced = coerceToSchema(given, tool.parameters);
  const parsed = tool.parse(coerced.value);
  if (!parsed.ok) {
    const schemaErrors =
      tool.kind === "agent" ? undefined : describeSchemaErrors(coerced.value, tool.parameters);
    return { message: schemaErrors ?? parsed.message };
  }

  const readNotes = read === undefined ? [] : [`arguments: JSON text ${read.repaired ? "repaired" : "read"}`];
  const result = acceptArguments(
    coerced.value,
    parsed.value,
    [...readNotes, ...coerced.notes],
    coerced.dropped,
    tool,
  );
  // A repair may have cut a text in two and made a field of its rest: leaving that out would lose it.
  const [extra] = result.dropped;
  return read?.repaired === true && extra !== undefined
    ? { message: formatMismatch(extra, "an unknown field in loose JSON", describeExpectedFields(tool)) }
    : result;
}

function acceptArguments(
  given: unknown,
  value: unknown,
  notes: readonly string[],
  droppedByCoercion: readonly string[],
  tool: Tool,
): RepairedArguments {
  const dropped = [
    ...droppedByCoercion,
    ...findDroppedFields(given, value, tool.parameters, tool.parameters),
  ];
  return { value, notes: [...notes, ...dropped.map((path) => `${path}: unknown field left out`)], dropped };
}

function describeExpectedFields(tool: Tool): string {
  const names = Object.keys(getProperties(tool.parameters));
  return names.length === 0 ? "a JSON object without fields" : `a JSON object of ${names.join(", ")}`;
}
