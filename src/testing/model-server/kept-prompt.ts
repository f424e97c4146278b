import type { Prompt } from "./prompt-cache.ts";
import { messagesOf, type Question } from "./question.ts";
import { itemsOf } from "./responses-items.ts";

// The prompts of vendors that keep their beginnings without being asked: wherever a message ends.

/** In tokens (https://platform.openai.com/docs/guides/prompt-caching). */
const OPENAI_LEAST = 1024;

function kept(before: readonly unknown[], messages: readonly unknown[], least: number): Prompt {
  const head = before.map((part) => ({ json: JSON.stringify(part ?? null), mark: false }));
  return {
    pieces: [...head, ...messages.map((part) => ({ json: JSON.stringify(part), mark: true }))],
    least,
  };
}

/** The schema of an answer stands before the messages. */
export function completionsPrompt({ body }: Question): Prompt {
  return kept([body["tools"], body["response_format"]], messagesOf(body), OPENAI_LEAST);
}

export function responsesPrompt({ body }: Question): Prompt {
  return kept([body["tools"], body["text"], body["instructions"]], itemsOf(body["input"]), OPENAI_LEAST);
}

/** In tokens, by service and model (https://ai.google.dev/gemini-api/docs/caching, and Vertex's page of that name). */
export function geminiPrompt({ body, model, protocol }: Question): Prompt {
  const contents = Array.isArray(body["contents"]) ? (body["contents"] as unknown[]) : [];
  const least = protocol === "google_vertex" ? 2048 : /-pro\b/.test(model) ? 4096 : 1024;
  return kept([body["systemInstruction"], body["tools"], body["toolConfig"]], contents, least);
}
