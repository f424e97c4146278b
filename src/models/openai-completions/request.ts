import type { OpenAiCompat } from "../../schema/model.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { isCacheOn } from "../cache-key.ts";
import { conversation } from "../conversation.ts";
import { effortFor } from "../openai-models.ts";
import type { ModelRequest } from "../provider.ts";
import { marked, takesCacheKey } from "./cache.ts";
import { compatOf } from "./compat.ts";
import { wireMessages } from "./messages.ts";
import { responseFormat } from "./output.ts";
import { idRuleOf, mustNotReasonWithTools, takesTemperature } from "./quirks.ts";
import type { WireRequest, WireTool } from "./wire.ts";

/** The body of `POST /chat/completions` for a question. */
export function completionsRequest(request: ModelRequest): WireRequest {
  const { model, temperature, output, mustCall } = request;
  const { provider } = model;
  const compat = compatOf(model);
  const turns = conversation(request.messages, provider, idRuleOf(provider));
  const tools = request.tools.map(wireTool);
  const thinking = thinkingFields(request, compat);
  const tempered =
    temperature !== undefined && takesTemperature(provider, model.id, thinking.reasoning_effort);
  const keyed = request.cacheKey !== undefined && isCacheOn(request.cache) && takesCacheKey(model, compat);
  return {
    model: model.id,
    messages: marked(wireMessages(request.systemPrompt, turns, compat, provider), model, request.cache),
    stream: true,
    ...(compat.supportsUsageInStreaming && { stream_options: { include_usage: true } }),
    [compat.maxTokensField]: Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens),
    ...(tempered && { temperature }),
    ...(tools.length > 0 && { tools }),
    ...(mustCall !== undefined && { tool_choice: { type: "function", function: { name: mustCall } } }),
    ...(output !== undefined && { response_format: responseFormat(output) }),
    ...(compat.supportsStore && { store: false }),
    ...(keyed && { prompt_cache_key: request.cacheKey }),
    ...(model.serviceTier !== undefined && { service_tier: model.serviceTier }),
    ...(model.verbosity !== undefined && { verbosity: model.verbosity }),
    ...thinking,
  };
}

type ThinkingFields = Pick<WireRequest, "reasoning_effort" | "reasoning" | "enable_thinking">;

function thinkingFields({ model, thinking, tools }: ModelRequest, compat: OpenAiCompat): ThinkingFields {
  if (compat.thinkingFormat === "qwen") return { enable_thinking: thinking !== "off" };
  const effort = effortFor(model, thinking);
  if (compat.thinkingFormat === "openrouter") return effort === undefined ? {} : { reasoning: { effort } };
  if (!compat.supportsReasoningEffort) return {};
  if (tools.length > 0 && mustNotReasonWithTools(model.provider, model.id))
    return { reasoning_effort: "none" };
  return effort === undefined ? {} : { reasoning_effort: effort };
}

function wireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { type: "function", function: { name, description, parameters } };
}
