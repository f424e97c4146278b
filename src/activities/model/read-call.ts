import { clampRequestedTurns, MAX_TURNS_ARGUMENT } from "../../core/machine/requested-turns.ts";
import type { CallDigest } from "../../core/machine/state/digest.ts";
import { isObject } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import { repairCall } from "../../tools/argument-repair/repair-call.ts";
import { resolveToolName } from "../../tools/argument-repair/resolve-tool-name.ts";
import type { Tool } from "../../tools/tool.ts";

const SUMMARY_BYTES = 120;
/** The most bytes of an unknown tool name; with the "..." of a cut, 128. */
const NAME_BYTES = 125;
/** The most bytes of the message about invalid arguments that the model reads: enough to correct them. */
const INVALID_BYTES = 512;
/** With the "..." of a cut, 256. */
const NOTE_BYTES = 253;

export type ParsedCall = {
  readonly digest: CallDigest;
  /** The tool to run and its arguments; absent where nothing can run. */
  readonly runs?: { readonly tool: Tool; readonly value: unknown };
};

/** Parses a call of an answer for the machine. An unknown tool name stays as it is: the machine answers it. */
export function parseCall(call: ToolCallContent, tools: readonly Tool[]): ParsedCall {
  const tool = resolveToolName(call.name, tools);
  if (tool === undefined) {
    return { digest: { id: call.id, name: redactPreview(call.name, NAME_BYTES), summary: "" } };
  }
  const recovered = repairCall(call, tools);
  const named = { id: call.id, name: tool.name };
  if ("message" in recovered) {
    const invalid = redactPreview(recovered.message, INVALID_BYTES);
    return { digest: { ...named, summary: "", invalidReason: invalid } };
  }
  const summary = buildSummary(tool, recovered.value).replace(/\s+/g, " ");
  const note = recovered.notes.join("; ");
  return {
    digest: {
      ...named,
      summary: redactPreview(summary, SUMMARY_BYTES),
      ...(note === "" ? {} : { note: redactPreview(note, NOTE_BYTES) }),
      ...omitUndefined({ maxTurns: readMaxTurns(tool, recovered.value) }),
    },
    runs: { tool, value: recovered.value },
  };
}

/** Reads what a call of a sub-agent sets. Arguments that its tool does not have were removed. */
function readMaxTurns({ kind }: Tool, value: unknown): number | undefined {
  if (kind !== "agent" || !isObject(value)) return undefined;
  return clampRequestedTurns(value[MAX_TURNS_ARGUMENT]);
}

/** Builds a summary for the timeline. A fault in it must not lose a paid answer. */
function buildSummary(tool: Tool, value: unknown): string {
  try {
    return tool.summarise(value);
  } catch {
    return "";
  }
}
