import { validateOpenAiFields } from "./openai-field-validation.ts";
import { getMessages, type ModelServerRequest } from "./request.ts";

export type OpenAiValidationError = { readonly message: string; readonly param: string };

/** Returns Chat Completions' own error for a request; undefined for a valid one. */
export function validateOpenAiRequest(question: ModelServerRequest): OpenAiValidationError | undefined {
  if (question.model === "") return { message: "you must provide a model parameter", param: "model" };
  const messages = getMessages(question.body);
  if (messages.length === 0) {
    return {
      message: "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      param: "messages",
    };
  }
  const fields = validateOpenAiFields(question);
  if (fields !== undefined) return fields;
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const param = `messages.[${index}].role`;
    if (message.role === "tool") {
      const id = String(message["tool_call_id"]);
      if (!open.includes(id)) {
        return {
          message:
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          param,
        };
      }
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) return { message: formatMissingResponse(open), param };
    const calls = message["tool_calls"];
    open = Array.isArray(calls) ? calls.map((call: { id?: unknown }) => String(call.id)) : [];
  }
  return open.length > 0 ? { message: formatMissingResponse(open), param: "messages" } : undefined;
}

function formatMissingResponse(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
}
