import { isAttachment } from "../../core/view/attachment.ts";
import { countDataBytes } from "../../core/view/data-reference.ts";
import { OWN_LIMITS } from "../../core/view/model-input.ts";
import { decodeBase64 } from "../../platform/media/decode-base64.ts";
import { buildFilePart } from "../../tools/file-part.ts";
import type { ToolOutput } from "../../tools/tool-execution.ts";

type Part = ToolOutput["content"][number];
type FilePart = Exclude<Part, { type: "text" }>;

/**
 * Checks the images and files that a tool returns, and puts a text with the reason in place of one that no model can receive.
 * Their data must be base64. In a message, the store replaces data by a reference to it: data of a tool that looks like a
 * reference would read what the store has of others.
 */
export function admitFiles(output: ToolOutput): ToolOutput {
  if (!output.content.some(isAttachment)) return output;
  let left = OWN_LIMITS.totalBytes;
  const content = output.content.map((part): Part => {
    if (!isAttachment(part)) return part;
    const admitted = admitFile(part, left);
    if (isAttachment(admitted)) left -= countDataBytes(admitted.data);
    return admitted;
  });
  return { ...output, content };
}

function admitFile(part: FilePart, maxBytes: number): Part {
  const bytes = typeof part.data === "string" ? decodeBase64(part.data) : undefined;
  if (bytes === undefined) return describeOmission(part, "its data is not base64");
  const result = buildFilePart(bytes, part);
  if (result.type === "refused") return describeOmission(part, result.reason);
  if (bytes.length > maxBytes)
    return describeOmission(part, "the files of the result are too large together");
  return result.part;
}

function describeOmission({ type, name, mimeType }: FilePart, reason: string): Part {
  const named = [type, name, mimeType].filter((fact) => fact !== undefined).join(" ");
  return { type: "text", text: `[The ${named.slice(0, 200)} is omitted: ${reason}.]` };
}
