import type { ToolDefinition } from "../../schema/tool.ts";
import { buildConversation, type ConversationTurn } from "../conversation.ts";
import type { ModelRequest } from "../provider.ts";
import { appendCachePoint, markHistory, selectCachePoints } from "./cache-points.ts";
import { describeConverseModel } from "./converse-model.ts";
import { buildConverseThinking } from "./converse-thinking.ts";
import { toOutputConfig } from "./output-config.ts";
import type { WireRequest, WireTool } from "./wire.ts";
import { BEDROCK_IDS, isInTurnWithoutThinking, toWireMessages } from "./wire-messages.ts";

/** Builds the body of `POST /model/ID/converse-stream` (PROV-24). */
export function buildConverseRequest(request: ModelRequest): WireRequest {
  const { model } = request;
  const points = selectCachePoints(model, request.cache);
  const turns = buildConversation(request.messages, model.provider, BEDROCK_IDS, request.isTranslated);
  const wireMessages = toWireMessages(turns, model);
  const blocked =
    describeConverseModel(model).claude?.thinking === "budget" &&
    isInTurnWithoutThinking(turns, wireMessages);
  const maxTokens = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  const thinking = buildConverseThinking(model, blocked ? "off" : request.thinking, maxTokens);
  const inferenceConfig = {
    ...(thinking.maxTokens !== undefined && { maxTokens: thinking.maxTokens }),
    ...(request.temperature !== undefined &&
      thinking.takesTemperature && { temperature: request.temperature }),
  };
  const system = request.systemPrompt.trim() === "" ? [] : [{ text: request.systemPrompt }];
  const tools = request.tools.length > 0 ? request.tools.map(toWireTool) : collectFormerTools(turns);
  const forcedTool = thinking.takesToolChoice ? request.forcedTool : undefined;
  const output = request.output === undefined ? undefined : toOutputConfig(request.output);
  return {
    messages: points.messages ? markHistory(wireMessages) : wireMessages,
    ...(system.length > 0 && { system: appendCachePoint(system, points.system) }),
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(tools.length > 0 && {
      toolConfig: {
        tools: appendCachePoint(tools, points.tools),
        ...(forcedTool !== undefined && { toolChoice: { tool: { name: forcedTool } } }),
      },
    }),
    ...(thinking.fields !== undefined && { additionalModelRequestFields: thinking.fields }),
    ...(output !== undefined && { outputConfig: output }),
    ...(model.serviceTier !== undefined && { serviceTier: { type: model.serviceTier } }),
  };
}

/** The API rejects an empty description. */
function toWireTool({ name, description, parameters }: ToolDefinition): WireTool {
  const described = description.trim() === "" ? {} : { description };
  return { toolSpec: { name, ...described, inputSchema: { json: parameters } } };
}

/** The API rejects a conversation with calls but without tools, even if no tool may be called any more. */
function collectFormerTools(turns: readonly ConversationTurn[]): readonly WireTool[] {
  const names = new Set(
    turns.flatMap((turn) =>
      turn.role === "assistant"
        ? turn.parts.flatMap((part) => (part.type === "call" ? [part.name] : []))
        : [],
    ),
  );
  const description = "No longer available. Do not call it.";
  return [...names].map((name) => toWireTool({ name, description, parameters: { type: "object" } }));
}
