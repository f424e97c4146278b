import type { AssistantMessage } from "../../schema/message.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { claudeModel, thinkingStyle } from "../claude-models.ts";
import { thinkingFields } from "../claude-thinking.ts";
import { conversation } from "../conversation.ts";
import type { ModelRequest } from "../provider.ts";
import { breakpoints, markHistory, markLast } from "./cache.ts";
import { ANTHROPIC_IDS, inTurnWithoutThinking, wireMessages } from "./messages.ts";
import { outputFormat } from "./output.ts";
import type { WireRequest, WireText, WireTool } from "./wire.ts";

/**
 * The body of `POST /v1/messages` for a question.
 *
 * @param paused - What the model has answered so far, when it is asked to go on.
 */
export function anthropicRequest(request: ModelRequest, paused?: AssistantMessage): WireRequest {
  const { model, cache } = request;
  const marks = breakpoints(cache);
  const turns = conversation(request.messages, model.provider, ANTHROPIC_IDS);
  const begun = paused === undefined ? [] : conversation([paused], model.provider, ANTHROPIC_IDS);
  const plain = wireMessages([...turns, ...begun]);
  const messages = marks.messages ? markHistory(plain) : plain;
  const system: readonly WireText[] =
    request.systemPrompt.trim() === "" ? [] : [{ type: "text", text: request.systemPrompt }];
  const tools = request.tools.map(wireTool);
  const limit = model.maxTokens;
  const maxTokens = Math.min(request.maxTokens ?? limit, limit);
  const claude = claudeModel(model.id);
  const style = thinkingStyle(model);
  const blocked = style === "budget" && inTurnWithoutThinking(turns, plain);
  const level = blocked ? "off" : request.thinking;
  const fields = thinkingFields(model.id, level, maxTokens, limit, style, model.thinkingBetweenTools);
  const format = outputFormat(request.output);
  const tempered =
    request.temperature !== undefined && fields.thinking === undefined && claude.takesTemperature;
  // With thinking the API takes no tool that must be called.
  const forced =
    request.mustCall !== undefined && fields.thinking === undefined && claude.takesToolChoice
      ? request.mustCall
      : undefined;
  return {
    model: model.id,
    ...fields,
    ...(format !== undefined && { output_config: { ...fields.output_config, format } }),
    stream: true,
    ...(system.length > 0 && { system: marks.system ? markLast(system) : system }),
    messages,
    ...(tools.length > 0 && { tools: marks.tools ? markLast(tools) : tools }),
    ...(forced !== undefined && { tool_choice: { type: "tool", name: forced } }),
    ...(tempered && { temperature: request.temperature }),
    ...(model.serviceTier !== undefined && { service_tier: model.serviceTier }),
  };
}

function wireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { name, description, input_schema: parameters };
}
