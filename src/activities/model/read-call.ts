import type { CallDigest } from "../../core/machine/state/digest.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import { repairCall } from "../../tools/argument-repair/repair-call.ts";
import { resolveToolName } from "../../tools/argument-repair/resolve-tool-name.ts";
import type { Tool } from "../../tools/tool.ts";

const SUMMARY_BYTES = 120;
/** Of a name that no tool has: with the "..." of a cut, 128. */
const NAME_BYTES = 125;
/** What a model is told of arguments that do not fit: enough to mend them. */
const INVALID_BYTES = 512;
/** With the "..." of a cut, 256. */
const NOTE_BYTES = 253;

export type ParsedCall = {
  readonly digest: CallDigest;
  /** What will run, and with what; absent where nothing can. */
  readonly runs?: { readonly tool: Tool; readonly value: unknown };
};

/** A call of an answer as the machine needs it. A name that fits none of the tools stays as it is: the machine answers for it. */
export function parseCall(call: ToolCallContent, tools: readonly Tool[]): ParsedCall {
  const tool = resolveToolName(call.name, tools);
  if (tool === undefined) {
    return { digest: { id: call.id, name: redactPreview(call.name, NAME_BYTES), summary: "" } };
  }
  const recovered = repairCall(call, tools);
  const named = { id: call.id, name: tool.name };
  if ("message" in recovered) {
    const invalid = redactPreview(recovered.message, INVALID_BYTES);
    return { digest: { ...named, summary: "", invalid } };
  }
  const summary = buildSummary(tool, recovered.value).replace(/\s+/g, " ");
  const note = recovered.notes.join("; ");
  return {
    digest: {
      ...named,
      summary: redactPreview(summary, SUMMARY_BYTES),
      ...(note === "" ? {} : { note: redactPreview(note, NOTE_BYTES) }),
    },
    runs: { tool, value: recovered.value },
  };
}

/** Words for a timeline must not lose an answer that was paid for. */
function buildSummary(tool: Tool, value: unknown): string {
  try {
    return tool.summarise(value);
  } catch {
    return "";
  }
}
