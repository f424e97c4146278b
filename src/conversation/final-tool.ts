import { outputName, type StructuredOutput } from "../schema/output.ts";
import type { ToolDefinition } from "../schema/tool.ts";

/** A schema that any object matches. */
const ANY_OBJECT = { type: "object", properties: {}, additionalProperties: true } as const;

/** Builds the tool whose arguments are the output, for vendors without another way (SO-01). */
export function buildFinalTool(output: StructuredOutput): ToolDefinition {
  return {
    name: outputName(output),
    description:
      "Gives the final answer and ends the task. Call it once, alone, when everything else is done.",
    parameters: output.type === "json" ? ANY_OBJECT : output.schema,
  };
}

/** Formats what a system prompt must say about the output, after its own text. */
function formatOutputInstruction(output: StructuredOutput, mode: "native" | "final-tool"): string {
  if (mode === "final-tool")
    return `Give your final answer by calling the tool ${outputName(output)}; an answer that is only text is not accepted.`;
  // Vendors reject this format when no message mentions JSON.
  return output.type === "json" ? "Your final answer must be one JSON object, and nothing else." : "";
}

type RequestParts = { readonly systemPrompt: string; readonly tools: readonly ToolDefinition[] };

/**
 * Adds to a request what the output requires.
 *
 * @param isRepair - The previous answer did not match.
 */
export function addOutputToRequest(
  { output, mode }: { readonly output: StructuredOutput; readonly mode: "native" | "final-tool" },
  { systemPrompt, tools }: RequestParts,
  isRepair: boolean,
): RequestParts & { readonly output?: StructuredOutput; readonly forcedTool?: string | undefined } {
  const parts = [systemPrompt, formatOutputInstruction(output, mode)].filter((text) => text.trim() !== "");
  const base = { systemPrompt: parts.join("\n\n") };
  if (mode === "native") return { ...base, tools, output };
  const forcedTool = isRepair ? outputName(output) : undefined;
  return { ...base, tools: [...tools, buildFinalTool(output)], forcedTool };
}
