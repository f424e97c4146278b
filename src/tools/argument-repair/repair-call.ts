import { findNearestName } from "../../platform/text/nearest-name.ts";
import { getProperties } from "../../platform/text/schema-type.ts";
import type { Tool } from "../tool.ts";
import { coerceToSchema } from "./coerce-to-schema.ts";
import { describeSchemaErrors, formatMismatch, formatName } from "./describe-schema-errors.ts";
import { findDroppedFields } from "./find-dropped-fields.ts";
import { readLooseObject } from "./read-loose-json.ts";
import { resolveToolName } from "./resolve-tool-name.ts";

// How a call with mistakes is handled:
//
//   found                                             | result
//   --------------------------------------------------|------------------------------------------------------
//   a tool's exact name, arguments that fit           | itself
//   a name that differs in case or in - _ . and space | that tool, when the name fits exactly one
//   an alias (the tool's own, or a built-in one)      | that tool, when the name fits exactly one
//   JSON text where the schema expects an object      | the object that the JSON describes
//   loose JSON, or JSON cut off after a whole value   | the repaired object, when no text is lost or made up
//   a number or boolean given as text, and the reverse| the declared type, when the conversion is exact
//   JSON text where the schema wants an object or list| the object or list
//   null for an optional field                        | no field
//   a field that the schema does not know             | no field, with a note; an error if the arguments were repaired
//   anything else                                     | one message that names field, found and expected
//
// "Exact": the conversion back gives the same text or value. "No text is lost": see argument-repair/preserves-text.ts.
//
// Only mismatches are changed, and the tool's own `parse` decides on every row. The stored answer stays as the model
// wrote it: the repair is a function of that answer and of the tools, and runs wherever its result is needed.

export type WrittenCall = { readonly name: string; readonly arguments: unknown };

export type RepairedArguments = {
  /** The value that the tool's `parse` returns. */
  readonly value: unknown;
  /** The repairs, a few words each; empty if there were none. */
  readonly notes: readonly string[];
  /** The paths of the unknown fields that were dropped: the part of the notes that the model should also see. */
  readonly dropped: readonly string[];
};

export type RepairedCall = RepairedArguments & { readonly tool: Tool };

/** The reason why the call cannot be repaired, for the model. */
export type RejectedCall = { readonly message: string };

export function repairCall(call: WrittenCall, tools: readonly Tool[]): RepairedCall | RejectedCall {
  const tool = resolveToolName(call.name, tools);
  if (tool === undefined) return { message: describeUnknownTool(call.name, tools) };
  const repaired = repairArguments(call.arguments, tool);
  if ("message" in repaired) return repaired;
  return { ...repaired, tool, notes: [...describeNameRepair(call.name, tool), ...repaired.notes] };
}

/** Describes the repair of a name that differs from the tool's own. */
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

  const readNotes =
    read === undefined ? [] : [`arguments: JSON text ${read.isRepaired ? "repaired" : "read"}`];
  const result = acceptArguments(
    coerced.value,
    parsed.value,
    [...readNotes, ...coerced.notes],
    coerced.dropped,
    tool,
  );
  // A repair may have split a text and made a field of its remainder: dropping that field would lose text.
  const [extra] = result.dropped;
  return read?.isRepaired === true && extra !== undefined
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
  return { value, notes: [...notes, ...dropped.map((path) => `${path}: unknown field dropped`)], dropped };
}

function describeExpectedFields(tool: Tool): string {
  const names = Object.keys(getProperties(tool.parameters));
  return names.length === 0 ? "a JSON object without fields" : `a JSON object of ${names.join(", ")}`;
}
