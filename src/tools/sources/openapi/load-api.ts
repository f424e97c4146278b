import { asText, getField, isObject } from "../../../platform/text/json.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import { ToolSourceError } from "../tool-source.ts";
import { collectWarnings } from "./collect-warnings.ts";
import { checkDocument, parseText } from "./parse-document.ts";
import { pinOperation } from "./pin-operation.ts";
import { readSpec } from "./read-document.ts";
import { References } from "./references.ts";
import { type SkippedOperation, selectOperations } from "./select-operations.ts";

/** The tools of a document. Plain data, so that one thread can send it to another. */
export type LoadedApi = {
  readonly title: string;
  readonly version: string;
  /** Their names are proposals. */
  readonly tools: readonly PinnedTool[];
  readonly skipped: readonly SkippedOperation[];
  /** Notes about tools, a few words each. */
  readonly notes: readonly { readonly remote: string; readonly note: string }[];
  readonly warnings: readonly string[];
};

/** Reads the document of one API and creates a tool for each operation. Rejects with a `ToolSourceError`. */
export async function loadApi(settings: OpenApiSettings, workspace: string): Promise<LoadedApi> {
  const { text, address } = await readSpec(settings.spec, workspace, settings.limits.maxDocumentBytes);
  return await loadApiText(text, address, settings);
}

/**
 * @param address - The URL of the document.
 *
 * @testonly
 */
export async function loadApiText(
  text: string,
  address: string,
  settings: OpenApiSettings,
): Promise<LoadedApi> {
  const document = checkDocument(parseText(text, settings.spec), settings.spec, settings.limits);
  const references = await References.load(document.root, address, text.length, settings);
  const { operations, skipped } = selectOperations(references, settings);
  const { maxOperations } = settings.limits;
  if (operations.length > maxOperations) {
    throw new ToolSourceError(
      `${settings.spec} has ${operations.length} operations, more than ${maxOperations}: select some by ids, tags or path, or increase limits.maxOperations`,
    );
  }
  const tools: PinnedTool[] = [];
  const omitted: SkippedOperation[] = [...skipped];
  const notes: { remote: string; note: string }[] = [];
  let withoutServer: string | undefined;
  for (const operation of operations) {
    const pinned = pinOperation(operation, references, settings, address);
    if (pinned.ok) {
      tools.push(pinned.tool);
      for (const note of pinned.notes) notes.push({ remote: operation.remote, note });
      continue;
    }
    const { method, path, id } = operation;
    omitted.push({ method, path, id, reason: pinned.reason });
    if (pinned.isServerProblem === true) withoutServer ??= pinned.reason;
  }
  // If no operation has a server, there is nothing else to warn about (OAPI-03).
  if (tools.length === 0 && withoutServer !== undefined) {
    throw new ToolSourceError(`The API ${settings.name} cannot be called: ${withoutServer}`);
  }
  const info = getField(references.root, "info");
  return {
    title: asText(getField(info, "title")) ?? settings.name,
    version: asText(isObject(info) ? info["version"] : undefined) ?? "",
    tools,
    skipped: omitted,
    notes,
    warnings: [...document.warnings, ...collectWarnings(settings, { tools, skipped: omitted, notes })],
  };
}
