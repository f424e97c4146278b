import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import { OutsideError } from "../source.ts";
import { at, isObject, textOf } from "./json.ts";
import { type LeftOut, operationsOf } from "./operations.ts";
import { checked, parseText } from "./parse-document.ts";
import { pinnedTool } from "./pinned-tool.ts";
import { readSpec } from "./read-document.ts";
import { References } from "./references.ts";
import { warningsOf } from "./warnings.ts";

/** What a document offers. Plain data, so that it can go from one thread to another. */
export type Loaded = {
  readonly title: string;
  readonly version: string;
  /** Names are proposals. */
  readonly tools: readonly PinnedTool[];
  readonly leftOut: readonly LeftOut[];
  /** Of tools, a few words each. */
  readonly notes: readonly { readonly remote: string; readonly note: string }[];
  readonly warnings: readonly string[];
};

/** Reads one API's document and makes tools of its operations. Rejects with an `OutsideError`. */
export async function load(settings: OpenApiSettings, workspace: string): Promise<Loaded> {
  const { text, address } = await readSpec(settings.spec, workspace, settings.limits.maxDocumentBytes);
  return await loadText(text, address, settings);
}

/**
 * @param address - Of the document, as an URL.
 *
 * @testonly
 */
export async function loadText(text: string, address: string, settings: OpenApiSettings): Promise<Loaded> {
  const document = checked(parseText(text, settings.spec), settings.spec, settings.limits);
  const references = await References.of(document.root, address, text.length, settings);
  const { operations, leftOut } = operationsOf(references, settings);
  const { maxOperations } = settings.limits;
  if (operations.length > maxOperations) {
    throw new OutsideError(
      `${settings.spec} has ${operations.length} operations, more than ${maxOperations}: choose some by ids, tags or path, or allow more with limits.maxOperations`,
    );
  }
  const tools: PinnedTool[] = [];
  const omitted: LeftOut[] = [...leftOut];
  const notes: { remote: string; note: string }[] = [];
  let serverless: string | undefined;
  for (const operation of operations) {
    const made = pinnedTool(operation, references, settings, address);
    if (made.ok) {
      tools.push(made.tool);
      for (const note of made.notes) notes.push({ remote: operation.remote, note });
      continue;
    }
    const { method, path, id } = operation;
    omitted.push({ method, path, id, why: made.why });
    if (made.isServer === true) serverless ??= made.why;
  }
  // Where no operation has a place to go, nothing is left to warn about (OAPI-03).
  if (tools.length === 0 && serverless !== undefined) {
    throw new OutsideError(`The API ${settings.name} cannot be called: ${serverless}`);
  }
  const info = at(references.root, "info");
  return {
    title: textOf(at(info, "title")) ?? settings.name,
    version: textOf(isObject(info) ? info["version"] : undefined) ?? "",
    tools,
    leftOut: omitted,
    notes,
    warnings: [...document.warnings, ...warningsOf(settings, { tools, leftOut: omitted, notes })],
  };
}
