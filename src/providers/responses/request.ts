import { outputName } from "../../core/final-tool.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { conversation } from "../conversation.ts";
import { type CommonLevel, upToHigh } from "../effort.ts";
import { answersAtOnceByName, reasonsByName } from "../openai-models.ts";
import { fitsStrictMode } from "../openai-output.ts";
import type { ModelRequest } from "../provider.ts";
import { idRuleOf, inputItems } from "./items.ts";
import type { WireFormat, WireItem, WireRequest, WireTool } from "./wire.ts";

/** THK-03. */
const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
} as const satisfies Record<CommonLevel, string>;

/** The API's own minimum. */
const MIN_OUTPUT_TOKENS = 16;

/** A free JSON object is refused when no item of the input speaks of JSON; the instructions are none. */
const JSON_ASKED: WireItem = { role: "developer", content: "The final answer is one JSON object." };

/** The body of `POST /responses` for a question. Nothing is stored at the vendor: each question carries all. */
export function responsesRequest(request: ModelRequest): WireRequest {
  const { model, systemPrompt, thinking, temperature, output, mustCall } = request;
  const items = inputItems(conversation(request.messages, model.provider, idRuleOf(model.provider)));
  const tools = request.tools.map(wireTool);
  const told = model.reasoning || thinking !== "off";
  const limit = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  // Models that reason refuse any temperature but their default.
  const tempered = temperature !== undefined && !told && !reasonsByName(model.id);
  return {
    model: model.id,
    ...(systemPrompt.trim() !== "" && { instructions: systemPrompt }),
    input: output?.type === "json" ? [JSON_ASKED, ...items] : items,
    stream: true,
    store: false,
    // Models that never reason refuse to be asked for it.
    ...((told || !answersAtOnceByName(model.id)) && { include: ["reasoning.encrypted_content"] as const }),
    ...(thinking !== "off" && {
      reasoning: { effort: EFFORTS[upToHigh(thinking)], summary: "auto" as const },
    }),
    max_output_tokens: Math.max(limit, MIN_OUTPUT_TOKENS),
    ...(tempered && { temperature }),
    ...(tools.length > 0 && { tools }),
    ...(mustCall !== undefined && { tool_choice: { type: "function" as const, name: mustCall } }),
    ...(output !== undefined && { text: { format: formatOf(output) } }),
    ...(model.serviceTier !== undefined && { service_tier: model.serviceTier }),
  };
}

/** Unless told otherwise this API holds models to a schema word by word, and rewrites or refuses what it cannot hold. */
function wireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { type: "function", name, description, parameters, strict: false };
}

function formatOf(output: StructuredOutput): WireFormat {
  if (output.type === "json") return { type: "json_object" };
  const { schema } = output;
  const strict = output.strict ?? fitsStrictMode(schema);
  return { type: "json_schema", name: outputName(output), schema, strict };
}
