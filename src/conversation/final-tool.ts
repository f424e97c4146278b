import type { StructuredOutput } from "../schema/output.ts";
import type { ToolDefinition } from "../schema/tool.ts";

/** What an output is called on the wire when its definition gives it no name. */
const DEFAULT_OUTPUT_NAME = "final_answer";

export function outputName({ name }: StructuredOutput): string {
  return name ?? DEFAULT_OUTPUT_NAME;
}

/** A schema that any object fits. */
const ANY_OBJECT = { type: "object", properties: {}, additionalProperties: true } as const;

/** The tool whose arguments are the output, for vendors that know no other way (SO-01). */
export function finalTool(output: StructuredOutput): ToolDefinition {
  return {
    name: outputName(output),
    description:
      "Gives the final answer, and ends the task. Call it once, alone, when everything else is done.",
    parameters: output.type === "json" ? ANY_OBJECT : output.schema,
  };
}

/** What a system prompt must say of the output, behind its own words. */
function outputInstruction(output: StructuredOutput, road: "native" | "final-tool"): string {
  if (road === "final-tool")
    return `Give your final answer by calling the tool ${outputName(output)}; an answer that is only text is not accepted.`;
  // Vendors refuse this format when no message speaks of JSON.
  return output.type === "json" ? "Your final answer must be one JSON object, and nothing else." : "";
}

type Asked = { readonly systemPrompt: string; readonly tools: readonly ToolDefinition[] };

/**
 * The parts of a request that an output changes.
 *
 * @param isRepair - The answer before did not fit.
 */
export function askedFor(
  { output, road }: { readonly output: StructuredOutput; readonly road: "native" | "final-tool" },
  { systemPrompt, tools }: Asked,
  isRepair: boolean,
): Asked & { readonly output?: StructuredOutput; readonly mustCall?: string | undefined } {
  const said = [systemPrompt, outputInstruction(output, road)].filter((text) => text.trim() !== "");
  const told = { systemPrompt: said.join("\n\n") };
  if (road === "native") return { ...told, tools, output };
  const mustCall = isRepair ? outputName(output) : undefined;
  return { ...told, tools: [...tools, finalTool(output)], mustCall };
}
