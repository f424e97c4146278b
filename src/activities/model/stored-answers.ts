import { createHash } from "node:crypto";
import type { ModelRequest } from "../../models/provider.ts";
import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AnswerSharing } from "../../schema/answer-sharing.ts";
import type { AssistantMessage, Message } from "../../schema/message.ts";
import type { SuiteStore } from "../../store/transcript/suites.ts";

// Answers of models that runs of suites share, by what was asked and by repetition.

/** Which requests are equal, and where the answer belongs. */
export type AnswerScope = AnswerSharing & { readonly session: string };

type AnswerStore = Pick<SuiteStore, "readAnswers" | "putAnswer">;

/**
 * Returns the stored answer to a request, or asks for it and stores it. A stored answer says where it was paid
 * (`storedFrom`), unless the same session has paid it: the answer of an execution that was lost before its step was stored.
 */
export async function askOrReadAnswer(
  request: ModelRequest,
  { session, ...sharing }: AnswerScope,
  store: AnswerStore,
  ask: () => Promise<AssistantMessage>,
): Promise<AssistantMessage> {
  const key = digestRequest(request, sharing);
  const [stored] = await store.readAnswers([key], Date.now());
  if (stored !== undefined) return toReusedAnswer(stored, session);
  const message = await ask();
  if (isReusable(message)) await store.putAnswer({ key, message, session, atMs: message.timestamp });
  return message;
}

/** Adds to a stored answer where it was paid, unless that is the session that takes it. */
function toReusedAnswer(
  stored: { readonly message: AssistantMessage; readonly session: string; readonly atMs: number },
  session: string,
): AssistantMessage {
  const { message, atMs } = stored;
  if (stored.session === session) return message;
  return { ...message, storedFrom: { session: stored.session, timestamp: atMs } };
}

/** An answer that was cut by an error is asked for again. */
function isReusable({ stopReason }: AssistantMessage): boolean {
  return stopReason !== "error" && stopReason !== "aborted";
}

/**
 * Digests what determines an answer: the model and where it is served, the conversation, and the options. Secrets, prices,
 * times and ids of Holdfast are left out.
 */
export function digestRequest(request: ModelRequest, { repetition, run }: AnswerSharing): string {
  const { model, messages, systemPrompt, tools, output, textOnly, forcedTool } = request;
  const { thinking, temperature, maxTokens = model.maxTokens, isTranslated } = request;
  const {
    apiKey: _key,
    headers: _headers,
    cost: _cost,
    name: _name,
    contextWindow: _size,
    ...served
  } = model;
  const asked = {
    model: served,
    messages: messages.map(selectContent),
    ...{ systemPrompt, tools, output, textOnly, forcedTool, thinking, temperature, maxTokens, isTranslated },
    repetition,
    ...omitUndefined({ run }),
  };
  return createHash("sha256").update(formatCanonicalJson(asked)).digest("hex");
}

/** Selects what a vendor is sent of a message. */
function selectContent(message: Message): unknown {
  const { role, content } = message;
  if (role !== "toolResult") return { role, content };
  const { toolCallId, toolName, isError } = message;
  return { role, content, toolCallId, toolName, isError };
}
