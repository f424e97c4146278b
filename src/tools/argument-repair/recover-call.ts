import { nearestName } from "../../platform/text/nearest-name.ts";
import type { Tool } from "../tool.ts";
import { describeMisfits, misfit, shownName } from "./describe-misfits.ts";
import { leftOut } from "./left-out.ts";
import { readObject } from "./loose-json.ts";
import { mend } from "./mend.ts";
import { resolveName } from "./resolve-name.ts";
import { propertiesOf } from "./schema-type.ts";

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

export type CallAsWritten = { readonly name: string; readonly arguments: unknown };

export type RecoveredArguments = {
  /** As the tool's `parse` gives it. */
  readonly value: unknown;
  /** What was done, a few words each; empty when nothing was. */
  readonly notes: readonly string[];
  /** Unknown fields that were left out, by path: a part of the notes that the model should know too. */
  readonly dropped: readonly string[];
};

export type RecoveredCall = RecoveredArguments & { readonly tool: Tool };

/** Why nothing can be made of it, for the model. */
export type Refused = { readonly message: string };

export function recoverCall(call: CallAsWritten, tools: readonly Tool[]): RecoveredCall | Refused {
  const tool = resolveName(call.name, tools);
  if (tool === undefined) return { message: unknownTool(call.name, tools) };
  const recovered = recoverArguments(call.arguments, tool);
  if ("message" in recovered) return recovered;
  return { ...recovered, tool, notes: [...nameNotes(call.name, tool), ...recovered.notes] };
}

/** What to say of a name that is not the tool's own. */
export function nameNotes(name: string, tool: Tool): readonly string[] {
  return name === tool.name ? [] : [`${shownName(name)}: read as ${tool.name}`];
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const near = nearestName(shownName(name), names);
  const known = names.length === 0 ? "no tools" : `one of ${names.join(", ")}`;
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  return misfit("tool", `the unknown name "${shownName(name)}"`, `${known}${meant}`);
}

export function recoverArguments(found: unknown, tool: Tool): RecoveredArguments | Refused {
  const fitting = tool.parse(found);
  if (fitting.ok) return accepted(found, fitting.value, [], [], tool);

  const read = typeof found === "string" ? readObject(found) : undefined;
  if (read?.ok === false) return { message: misfit("arguments", read.found, expectedFields(tool)) };
  const given = read === undefined ? found : read.value;
  const mended = mend(given, tool.parameters);
  const parsed = tool.parse(mended.value);
  if (!parsed.ok) {
    const misfits = tool.kind === "agent" ? undefined : describeMisfits(mended.value, tool.parameters);
    return { message: misfits ?? parsed.message };
  }

  const readNotes = read === undefined ? [] : [`arguments: JSON text ${read.repaired ? "repaired" : "read"}`];
  const result = accepted(mended.value, parsed.value, [...readNotes, ...mended.notes], mended.dropped, tool);
  // A repair may have cut a text in two and made a field of its rest: leaving that out would lose it.
  const [extra] = result.dropped;
  return read?.repaired === true && extra !== undefined
    ? { message: misfit(extra, "an unknown field in loose JSON", expectedFields(tool)) }
    : result;
}

function accepted(
  given: unknown,
  value: unknown,
  notes: readonly string[],
  closedOut: readonly string[],
  tool: Tool,
): RecoveredArguments {
  const dropped = [...closedOut, ...leftOut(given, value, tool.parameters, tool.parameters)];
  return { value, notes: [...notes, ...dropped.map((path) => `${path}: unknown field left out`)], dropped };
}

function expectedFields(tool: Tool): string {
  const names = Object.keys(propertiesOf(tool.parameters));
  return names.length === 0 ? "a JSON object without fields" : `a JSON object of ${names.join(", ")}`;
}
