import type { StructuredOutput } from "../../schema/output.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { buildConversation } from "../conversation.ts";
import type { ModelRequest, OutputMode } from "../provider.ts";
import { describeGeminiModel } from "./gemini-model.ts";
import { buildThinkingFields } from "./thinking-fields.ts";
import type { WireDeclaration, WireGeneration, WireRequest } from "./wire.ts";
import { GEMINI_IDS, toWireContents } from "./wire-contents.ts";

/** The body of `streamGenerateContent` for a question (PROV-20). Prefixes are cached by the vendor unasked (CACHE-05). */
export function buildGeminiRequest(request: ModelRequest): WireRequest {
  const { model, temperature, output, mustCall: forcedTool, systemPrompt } = request;
  const gemini = describeGeminiModel(model);
  const turns = buildConversation(request.messages, model.provider, GEMINI_IDS);
  const maxTokens = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  const { thinking } = request;
  return {
    contents: toWireContents(turns, gemini),
    // The role is what the vendor's SDK writes there; the API does not look at it.
    ...(systemPrompt.trim() !== "" && {
      systemInstruction: { role: "user", parts: [{ text: systemPrompt }] },
    }),
    ...(request.tools.length > 0 && { tools: [{ functionDeclarations: request.tools.map(toDeclaration) }] }),
    ...(forcedTool !== undefined && {
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [forcedTool] } },
    }),
    generationConfig: {
      ...buildThinkingFields(gemini.thinking, model.thinkingStyle, thinking, maxTokens, model.maxTokens),
      ...(temperature !== undefined && { temperature }),
      ...(output !== undefined && toResponseFormat(output)),
    },
  };
}

/** Before Gemini 3 a format of the answer and tools refuse each other. */
export function selectOutputMode(model: ModelRequest["model"]): OutputMode {
  return describeGeminiModel(model).signs ? "native" : "final-tool";
}

/** `parameters` is a subset of OpenAPI, and what it does not know is refused; here any JSON Schema is taken. */
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
