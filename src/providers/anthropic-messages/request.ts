import type { ToolDefinition } from "../../schema/tool.ts";
import { claudeModel } from "../claude-models.ts";
import { thinkingFields } from "../claude-thinking.ts";
import { conversation } from "../conversation.ts";
import type { ModelRequest } from "../provider.ts";
import { breakpoints, markHistory, markLast } from "./cache.ts";
import { ANTHROPIC_IDS, inTurnWithoutThinking, wireMessages } from "./messages.ts";
import type { WireRequest, WireText, WireTool } from "./wire.ts";

/** The body of `POST /v1/messages` for a question. */
export function anthropicRequest(request: ModelRequest): WireRequest {
  const { model, cache } = request;
  const marks = breakpoints(cache);
  const turns = conversation(request.messages, model.provider, ANTHROPIC_IDS);
  const plain = wireMessages(turns);
  const messages = marks.messages ? markHistory(plain) : plain;
  const system: readonly WireText[] =
    request.systemPrompt.trim() === "" ? [] : [{ type: "text", text: request.systemPrompt }];
  const tools = request.tools.map(wireTool);
  const limit = model.maxTokens;
  const maxTokens = Math.min(request.maxTokens ?? limit, limit);
  const claude = claudeModel(model.id);
  const blocked = claude.thinking === "budget" && inTurnWithoutThinking(turns, plain);
  const fields = thinkingFields(model.id, blocked ? "off" : request.thinking, maxTokens, limit);
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
    stream: true,
    ...(system.length > 0 && { system: marks.system ? markLast(system) : system }),
    messages,
    ...(tools.length > 0 && { tools: marks.tools ? markLast(tools) : tools }),
    ...(forced !== undefined && { tool_choice: { type: "tool", name: forced } }),
    ...(tempered && { temperature: request.temperature }),
  };
}

function wireTool({ name, description, parameters }: ToolDefinition): WireTool {
  return { name, description, input_schema: parameters };
}
