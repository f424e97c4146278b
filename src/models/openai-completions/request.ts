import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { OpenAiCompat } from "../../schema/model.ts";
import { outputName, type StructuredOutput } from "../../schema/output.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { isCacheEnabled } from "../cache-key.ts";
import { buildConversation } from "../conversation.ts";
import { selectEffort } from "../openai-models.ts";
import { supportsStrictMode } from "../openai-output.ts";
import type { ModelRequest } from "../provider.ts";
import { applyCacheMarks, takesCacheKey } from "./cache-marks.ts";
import { resolveCompat } from "./compat.ts";
import { forbidsReasoningWithTools, selectIdRule, takesTemperature } from "./quirks.ts";
import type { WireRequest, WireTool } from "./wire.ts";
import { toWireMessages } from "./wire-messages.ts";

/** Builds the body of `POST /chat/completions`. */
export function buildCompletionsRequest(request: ModelRequest): WireRequest {
  const { model, temperature, output, forcedTool } = request;
  const { provider } = model;
  const compat = resolveCompat(model);
  const turns = buildConversation(request.messages, provider, selectIdRule(provider), request.isTranslated);
  const tools = request.tools.map(toWireTool);
  const thinking = buildThinkingFields(request, compat);
  const tempered =
    temperature !== undefined && takesTemperature(provider, model.id, thinking.reasoning_effort);
  const keyed =
    request.cacheKey !== undefined && isCacheEnabled(request.cache) && takesCacheKey(model, compat);
  return {
    model: model.id,
    messages: applyCacheMarks(
      toWireMessages(request.systemPrompt, turns, compat, provider),
      model,
      request.cache,
    ),
    stream: true,
    ...(compat.supportsUsageInStreaming && { stream_options: { include_usage: true } }),
    [compat.maxTokensField]: Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens),
    ...(tempered && { temperature }),
    ...(tools.length > 0 && { tools }),
    ...(forcedTool !== undefined && { tool_choice: { type: "function", function: { name: forcedTool } } }),
    ...(request.textOnly === true && tools.length > 0 && { tool_choice: "none" }),
    ...(output !== undefined && { response_format: toResponseFormat(output) }),
    ...(compat.supportsStore && { store: false }),
    ...(keyed && { prompt_cache_key: request.cacheKey }),
    ...(model.serviceTier !== undefined && { service_tier: model.serviceTier }),
    ...(model.verbosity !== undefined && { verbosity: model.verbosity }),
    ...thinking,
  };
}

type ThinkingFields = Pick<WireRequest, "reasoning_effort" | "reasoning" | "enable_thinking">;

function buildThinkingFields({ model, thinking, tools }: ModelRequest, compat: OpenAiCompat): ThinkingFields {
  if (compat.thinkingFormat === "qwen") return { enable_thinking: thinking !== "off" };
  const effort = selectEffort(model, thinking);
  if (compat.thinkingFormat === "openrouter") return effort === undefined ? {} : { reasoning: { effort } };
  if (!compat.supportsReasoningEffort) return {};
  if (tools.length > 0 && forbidsReasoningWithTools(model.provider, model.id))
    return { reasoning_effort: "none" };
  return omitUndefined({ reasoning_effort: effort });
}

function toWireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { type: "function", function: { name, description, parameters } };
}

export function toResponseFormat(output: StructuredOutput): NonNullable<WireRequest["response_format"]> {
  if (output.type === "json") return { type: "json_object" };
  const { schema } = output;
  const strict = output.strict ?? supportsStrictMode(schema);
  return { type: "json_schema", json_schema: { name: outputName(output), schema, strict } };
}
