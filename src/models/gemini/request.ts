import type { StructuredOutput } from "../../schema/output.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import { conversation } from "../conversation.ts";
import type { ModelRequest, OutputRoad } from "../provider.ts";
import { GEMINI_IDS, wireContents } from "./contents.ts";
import { geminiModel } from "./models.ts";
import { thinkingFields } from "./thinking.ts";
import type { WireDeclaration, WireGeneration, WireRequest } from "./wire.ts";

/** The body of `streamGenerateContent` for a question (PROV-20). Prefixes are cached by the vendor unasked (CACHE-05). */
export function geminiRequest(request: ModelRequest): WireRequest {
  const { model, temperature, output, mustCall, systemPrompt } = request;
  const gemini = geminiModel(model);
  const turns = conversation(request.messages, model.provider, GEMINI_IDS);
  const maxTokens = Math.min(request.maxTokens ?? model.maxTokens, model.maxTokens);
  const { thinking } = request;
  return {
    contents: wireContents(turns, gemini),
    // The role is what the vendor's SDK writes there; the API does not look at it.
    ...(systemPrompt.trim() !== "" && {
      systemInstruction: { role: "user", parts: [{ text: systemPrompt }] },
    }),
    ...(request.tools.length > 0 && { tools: [{ functionDeclarations: request.tools.map(declaration) }] }),
    ...(mustCall !== undefined && {
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [mustCall] } },
    }),
    generationConfig: {
      ...thinkingFields(gemini.thinking, model.thinkingStyle, thinking, maxTokens, model.maxTokens),
      ...(temperature !== undefined && { temperature }),
      ...(output !== undefined && formatOf(output)),
    },
  };
}

/** Before Gemini 3 a format of the answer and tools refuse each other. */
export function geminiRoad(model: ModelRequest["model"]): OutputRoad {
  return geminiModel(model).signs ? "native" : "final-tool";
}

/** `parameters` is a subset of OpenAPI, and what it does not know is refused; here any JSON Schema is taken. */
function declaration({ name, description, parameters }: ToolDefinition): WireDeclaration {
  return { name, description, parametersJsonSchema: parameters };
}

function formatOf(output: StructuredOutput): Pick<WireGeneration, "responseMimeType" | "responseJsonSchema"> {
  return {
    responseMimeType: "application/json",
    ...(output.type === "json-schema" && { responseJsonSchema: output.schema }),
  };
}
