import type { AssistantMessage } from "../../schema/message.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { describeClaudeModel, selectThinkingStyle } from "../claude-model.ts";
import { buildThinkingFields } from "../claude-thinking-fields.ts";
import { buildConversation } from "../conversation.ts";
import type { ModelRequest } from "../provider.ts";
import { markHistory, markLast, selectBreakpoints } from "./cache-breakpoints.ts";
import { toOutputFormat } from "./output-format.ts";
import type { WireRequest, WireText, WireTool } from "./wire.ts";
import { ANTHROPIC_IDS, isInTurnWithoutThinking, toWireMessages } from "./wire-messages.ts";

/**
 * Builds the body of `POST /v1/messages`.
 *
 * @param paused - The answer so far, when the model is asked to continue it.
 */
export function buildAnthropicRequest(request: ModelRequest, paused?: AssistantMessage): WireRequest {
  const { model, cache } = request;
  const marks = selectBreakpoints(cache);
  const turns = buildConversation(request.messages, model.provider, ANTHROPIC_IDS, request.isTranslated);
  const pausedTurns = paused === undefined ? [] : buildConversation([paused], model.provider, ANTHROPIC_IDS);
  const wireMessages = toWireMessages([...turns, ...pausedTurns]);
  const messages = marks.messages ? markHistory(wireMessages) : wireMessages;
  const system: readonly WireText[] =
    request.systemPrompt.trim() === "" ? [] : [{ type: "text", text: request.systemPrompt }];
  const tools = request.tools.map(toWireTool);
  const limit = model.maxTokens;
  const maxTokens = Math.min(request.maxTokens ?? limit, limit);
  const claude = describeClaudeModel(model.id);
  const style = selectThinkingStyle(model);
  const blocked = style === "budget" && isInTurnWithoutThinking(turns, wireMessages);
  const level = blocked ? "off" : request.thinking;
  const fields = buildThinkingFields(model.id, level, maxTokens, limit, style, model.thinkingBetweenTools);
  const format = toOutputFormat(request.output);
  const takesTemperature =
    request.temperature !== undefined && fields.thinking === undefined && claude.takesTemperature;
  // With thinking, the API rejects a forced tool.
  const forcedTool =
    request.forcedTool !== undefined && fields.thinking === undefined && claude.takesToolChoice
      ? request.forcedTool
      : undefined;
  return {
    model: model.id,
    ...fields,
    ...(format !== undefined && { output_config: { ...fields.output_config, format } }),
    stream: true,
    ...(system.length > 0 && { system: marks.system ? markLast(system) : system }),
    messages,
    ...(tools.length > 0 && { tools: marks.tools ? markLast(tools) : tools }),
    ...(forcedTool !== undefined && { tool_choice: { type: "tool", name: forcedTool } }),
    ...(request.textOnly === true && tools.length > 0 && { tool_choice: { type: "none" } }),
    ...(takesTemperature && { temperature: request.temperature }),
    ...(model.serviceTier !== undefined && { service_tier: model.serviceTier }),
  };
}

function toWireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { name, description, input_schema: parameters };
}
