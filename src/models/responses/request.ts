import type { ModelConfig } from "../../schema/model.ts";
import { outputName, type StructuredOutput } from "../../schema/output.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { isCacheEnabled } from "../cache-key.ts";
import { buildConversation } from "../conversation.ts";
import { isPlainModel, isReasoningModel, selectEffort } from "../openai-models.ts";
import { supportsStrictMode } from "../openai-output.ts";
import type { ModelRequest } from "../provider.ts";
import { selectIdRule, toInputItems } from "./input-items.ts";
import type { WireFormat, WireItem, WireRequest, WireTool } from "./wire.ts";

/** The API's own minimum. */
const MIN_OUTPUT_TOKENS = 16;

/** The API rejects a free JSON output if no input item mentions JSON; the instructions do not count. */
const JSON_INSTRUCTION: WireItem = { role: "developer", content: "The final answer is one JSON object." };

/** Builds the body of `POST /responses`. Nothing is stored at the vendor: each request contains everything. */
export function buildResponsesRequest(request: ModelRequest): WireRequest {
  const { model, systemPrompt, thinking, temperature, output, forcedTool } = request;
  const items = toInputItems(
    buildConversation(request.messages, model.provider, selectIdRule(model.provider), request.isTranslated),
  );
  const tools = request.tools.map(toWireTool);
  const { verbosity } = model;
  const effort = selectEffort(model, thinking);
  const instructsJson = model.reasoning || effort !== undefined;
  const limit = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  // While they reason, models reject any temperature but their default.
  const reasons = effort !== "none" && (instructsJson || isReasoningModel(model.id));
  const keyed = request.cacheKey !== undefined && isCacheEnabled(request.cache) && takesCacheKey(model);
  return {
    model: model.id,
    ...(systemPrompt.trim() !== "" && { instructions: systemPrompt }),
    input: output?.type === "json" ? [JSON_INSTRUCTION, ...items] : items,
    stream: true,
    store: false,
    ...(keyed && { prompt_cache_key: request.cacheKey }),
    // Models that never reason reject this field.
    ...((instructsJson || !isPlainModel(model.id)) && { include: ["reasoning.encrypted_content"] as const }),
    ...(effort !== undefined && { reasoning: toReasoning(effort) }),
    max_output_tokens: Math.max(limit, MIN_OUTPUT_TOKENS),
    ...(temperature !== undefined && !reasons && { temperature }),
    ...(tools.length > 0 && { tools }),
    ...(forcedTool !== undefined && { tool_choice: { type: "function" as const, name: forcedTool } }),
    ...(request.textOnly === true && tools.length > 0 && { tool_choice: "none" as const }),
    ...((output !== undefined || verbosity !== undefined) && {
      text: {
        ...(output !== undefined && { format: toFormat(output) }),
        ...(verbosity !== undefined && { verbosity }),
      },
    }),
    ...(model.serviceTier !== undefined && { service_tier: model.serviceTier }),
  };
}

/** Other servers, and Azure in its dated form, reject an unknown field. */
function takesCacheKey({ provider, baseUrl, apiVersion }: ModelConfig): boolean {
  if (!/^(?:openai|azure)/.test(provider)) return false;
  return apiVersion === undefined && !/[?&]api-version=|\/deployments\//.test(baseUrl);
}

function toReasoning(effort: string): NonNullable<WireRequest["reasoning"]> {
  return effort === "none" ? { effort } : { effort, summary: "auto" };
}

/** By default the API enforces a schema strictly, and rewrites or rejects one that it does not support. */
function toWireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { type: "function", name, description, parameters, strict: false };
}

function toFormat(output: StructuredOutput): WireFormat {
  if (output.type === "json") return { type: "json_object" };
  const { schema } = output;
  const strict = output.strict ?? supportsStrictMode(schema);
  return { type: "json_schema", name: outputName(output), schema, strict };
}
