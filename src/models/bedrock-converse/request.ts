import type { ToolDefinition } from "../../schema/tool.ts";
import { conversation, type Turn } from "../conversation.ts";
import type { ModelRequest } from "../provider.ts";
import { cachePoints, markHistory, withPoint } from "./cache.ts";
import { BEDROCK_IDS, inTurnWithoutThinking, wireMessages } from "./messages.ts";
import { converseModel } from "./models.ts";
import { outputConfig } from "./output.ts";
import { thinkingPart } from "./thinking.ts";
import type { WireRequest, WireTool } from "./wire.ts";

/** The body of `POST /model/ID/converse-stream` for a question (PROV-24). */
export function converseRequest(request: ModelRequest): WireRequest {
  const { model } = request;
  const points = cachePoints(model, request.cache);
  const turns = conversation(request.messages, model.provider, BEDROCK_IDS);
  const plain = wireMessages(turns, model);
  const blocked = converseModel(model).claude?.thinking === "budget" && inTurnWithoutThinking(turns, plain);
  const maxTokens = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  const thinking = thinkingPart(model, blocked ? "off" : request.thinking, maxTokens);
  const inferenceConfig = {
    ...(thinking.maxTokens !== undefined && { maxTokens: thinking.maxTokens }),
    ...(request.temperature !== undefined &&
      thinking.takesTemperature && { temperature: request.temperature }),
  };
  const system = request.systemPrompt.trim() === "" ? [] : [{ text: request.systemPrompt }];
  const tools = request.tools.length > 0 ? request.tools.map(wireTool) : formerTools(turns);
  const forced = thinking.takesToolChoice ? request.mustCall : undefined;
  const output = request.output === undefined ? undefined : outputConfig(request.output);
  return {
    messages: points.messages ? markHistory(plain) : plain,
    ...(system.length > 0 && { system: withPoint(system, points.system) }),
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(tools.length > 0 && {
      toolConfig: {
        tools: withPoint(tools, points.tools),
        ...(forced !== undefined && { toolChoice: { tool: { name: forced } } }),
      },
    }),
    ...(thinking.fields !== undefined && { additionalModelRequestFields: thinking.fields }),
    ...(output !== undefined && { outputConfig: output }),
    ...(model.serviceTier !== undefined && { serviceTier: { type: model.serviceTier } }),
  };
}

/** The API refuses a description without a word. */
function wireTool({ name, description, parameters }: ToolDefinition): WireTool {
  const described = description.trim() === "" ? {} : { description };
  return { toolSpec: { name, ...described, inputSchema: { json: parameters } } };
}

/** A conversation with calls in it is refused without any tools, even where none may be called any more. */
function formerTools(turns: readonly Turn[]): readonly WireTool[] {
  const names = new Set(
    turns.flatMap((turn) =>
      turn.role === "assistant"
        ? turn.parts.flatMap((part) => (part.type === "call" ? [part.name] : []))
        : [],
    ),
  );
  const description = "No longer available. Do not call it.";
  return [...names].map((name) => wireTool({ name, description, parameters: { type: "object" } }));
}
