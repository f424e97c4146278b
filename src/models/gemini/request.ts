import type { StructuredOutput } from "../../schema/output.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { buildConversation } from "../conversation.ts";
import type { ModelRequest, OutputMode } from "../provider.ts";
import { describeGeminiModel } from "./gemini-model.ts";
import { buildThinkingFields } from "./thinking-fields.ts";
import type { WireDeclaration, WireGeneration, WireRequest } from "./wire.ts";
import { GEMINI_IDS, toWireContents } from "./wire-contents.ts";

/** Builds the body of `streamGenerateContent` (PROV-20). The vendor caches prefixes automatically (CACHE-05). */
export function buildGeminiRequest(request: ModelRequest): WireRequest {
  const { model, temperature, output, forcedTool, systemPrompt } = request;
  const gemini = describeGeminiModel(model);
  const turns = buildConversation(request.messages, model.provider, GEMINI_IDS, request.isTranslated);
  const maxTokens = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  const { thinking } = request;
  return {
    contents: toWireContents(turns, gemini),
    // The vendor's SDK writes this role; the API ignores it.
    ...(systemPrompt.trim() !== "" && {
      systemInstruction: { role: "user", parts: [{ text: systemPrompt }] },
    }),
    ...(request.tools.length > 0 && { tools: [{ functionDeclarations: request.tools.map(toDeclaration) }] }),
    ...(forcedTool !== undefined && {
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [forcedTool] } },
    }),
    ...(request.textOnly === true &&
      request.tools.length > 0 && { toolConfig: { functionCallingConfig: { mode: "NONE" } } }),
    generationConfig: {
      ...buildThinkingFields(gemini.thinking, model.thinkingStyle, thinking, maxTokens, model.maxTokens),
      ...(temperature !== undefined && { temperature }),
      ...(output !== undefined && toResponseFormat(output)),
    },
  };
}

/** Before Gemini 3 an answer format and tools exclude each other. */
export function selectOutputMode(model: ModelRequest["model"]): OutputMode {
  return describeGeminiModel(model).signsParts ? "native" : "final-tool";
}

/** `parameters` accepts a subset of OpenAPI and rejects other keywords; this field accepts any JSON Schema. */
function toDeclaration({ name, description, parameters }: ToolDefinition): WireDeclaration {
  return { name, description, parametersJsonSchema: parameters };
}

function toResponseFormat(
  output: StructuredOutput,
): Pick<WireGeneration, "responseMimeType" | "responseJsonSchema"> {
  return {
    responseMimeType: "application/json",
    ...(output.type === "json-schema" && { responseJsonSchema: output.schema }),
  };
}
