import type { Prompt } from "./prompt-cache.ts";
import { getMessages, type ModelServerRequest } from "./request.ts";
import { getItems } from "./responses-items.ts";

// Prompts of vendors with implicit caching, which cache a prompt up to the end of each message.

/** The minimum prefix in tokens (https://platform.openai.com/docs/guides/prompt-caching). */
const OPENAI_MIN_TOKENS = 1024;

function buildImplicitPrompt(
  unmarked: readonly unknown[],
  messages: readonly unknown[],
  minTokens: number,
): Prompt {
  const head = unmarked.map((part) => ({ json: JSON.stringify(part ?? null), isCachePoint: false }));
  return {
    segments: [...head, ...messages.map((part) => ({ json: JSON.stringify(part), isCachePoint: true }))],
    minTokens,
  };
}

/** Builds the prompt of Chat Completions; the schema of the answer precedes the messages. */
export function buildCompletionsPrompt({ body }: ModelServerRequest): Prompt {
  return buildImplicitPrompt([body["tools"], body["response_format"]], getMessages(body), OPENAI_MIN_TOKENS);
}

export function buildResponsesPrompt({ body }: ModelServerRequest): Prompt {
  return buildImplicitPrompt(
    [body["tools"], body["text"], body["instructions"]],
    getItems(body["input"]),
    OPENAI_MIN_TOKENS,
  );
}

/** The minimum prefix in tokens, by service and model (https://ai.google.dev/gemini-api/docs/caching; Vertex has a page of that name). */
export function buildGeminiPrompt({ body, model, protocol }: ModelServerRequest): Prompt {
  const contents = Array.isArray(body["contents"]) ? (body["contents"] as unknown[]) : [];
  const minTokens = protocol === "google_vertex" ? 2048 : /-pro\b/.test(model) ? 4096 : 1024;
  return buildImplicitPrompt(
    [body["systemInstruction"], body["tools"], body["toolConfig"]],
    contents,
    minTokens,
  );
}
