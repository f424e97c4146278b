import type { Mask } from "../../models/secret-masks.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { ToolOutput } from "../../tools/tool-execution.ts";

/**
 * The most text that one result may add to a conversation, in bytes: a quarter of a million tokens. The built-in tools
 * have lower bounds of their own; a tool of an application may have none.
 */
export const MAX_RESULT_BYTES = 1024 * 1024;

/** Loop ids go through history; Holdfast's own are at most half as long. */
const MAX_LOOP_ID_BYTES = 512;

/** The same text as bash uses (BIT-05). */
const TRUNCATED = "\n... (output truncated)";

/** Bounds a tool's output for storing and sending, and removes the worker's own secrets. */
export function boundOutput(output: ToolOutput, mask: Mask): ToolOutput {
  let left = MAX_RESULT_BYTES;
  const content = output.content.map((part) => {
    if (part.type !== "text") return part;
    const text = mask(part.text);
    const cut = truncateForPreview(text, left);
    left = Math.max(0, left - Buffer.byteLength(cut));
    return cut === text ? { ...part, text } : { ...part, text: cut.slice(0, -"...".length) + TRUNCATED };
  });
  const { childLoopId, details, endsLoop, ...rest } = output;
  const includesChild = childLoopId !== undefined && Buffer.byteLength(childLoopId) <= MAX_LOOP_ID_BYTES;
  return {
    ...rest,
    content,
    ...(details === undefined ? {} : { details: maskValue(details, mask) as typeof details }),
    ...(includesChild ? { childLoopId } : {}),
    ...(endsLoop === undefined ? {} : { endsLoop: { ...endsLoop, reason: mask(endsLoop.reason) } }),
  };
}

/** Masks every text in a value; field names stay. */
function maskValue(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((one) => maskValue(one, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, maskValue(one, mask)]));
}
