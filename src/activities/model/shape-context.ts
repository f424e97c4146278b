import { CancelledFailure } from "@temporalio/activity";
import { z } from "zod";
import { getTranslation } from "../../conversation/context-translation.ts";
import { findOrphan } from "../../conversation/orphans.ts";
import type { ContextFacts } from "../../hooks/context-functions.ts";
import { askWithTimeout, DEFAULT_HOOK_TIMEOUT_MS } from "../../hooks/time-limit.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { AgentMessage, Message } from "../../schema/message.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkNames } from "../step/check-names.ts";
import { ApplicationError, MAX_MESSAGE_BYTES } from "../step/failure.ts";

type Shaping = Pick<AgentDefinition, "transformContext" | "convertToLlm" | "contextTranslation">;
type RegisteredFunctions = Pick<Dependencies, "transforms" | "converters" | "translations">;

/** Returns whether the messages of a view are sent without a function of the application. */
export function isPlain(definition: Shaping): boolean {
  const { transformContext, convertToLlm } = definition;
  return transformContext.length === 0 && convertToLlm === null && getTranslation(definition) === undefined;
}

/** Throws when the worker lacks a context function that the definition needs. */
export function checkContextFunctions(
  definition: Shaping,
  { transforms, converters, translations }: RegisteredFunctions,
): void {
  const { transformContext, convertToLlm } = definition;
  const translation = getTranslation(definition);
  checkNames(transforms.label, transformContext, transforms.names);
  checkNames(converters.label, convertToLlm === null ? [] : [convertToLlm], converters.names);
  checkNames(translations.label, translation === undefined ? [] : [translation], translations.names);
}

/**
 * Returns the messages as an application wants a model to see them: transformed, in the definition's order, then
 * converted (CB-10), then translated for the vendor (XLAT-02).
 *
 * A function that throws, times out, or separates a call from its result ends the turn with an error that names the
 * function. Otherwise a model would see what the application wanted to change. The function is not called again; it
 * may retry by itself, within its time limit.
 *
 * @param messages - Passed to the functions as they are: the caller's own copy.
 */
export async function shapeContext(
  messages: readonly AgentMessage[],
  definition: Shaping & Pick<AgentDefinition, "model">,
  facts: ContextFacts,
  registered: RegisteredFunctions,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  checkContextFunctions(definition, registered);
  const readable = await makeReadable(messages, definition, facts, registered, signal);
  const name = getTranslation(definition);
  if (name === undefined) return readable;
  const { api: protocol, provider, id: model } = definition.model;
  const translate = registered.translations.get(name);
  return await callContextFunction(`The context translation "${name}"`, Message, signal, (within) =>
    translate?.(readable, { protocol, provider, model }, within),
  );
}

async function makeReadable(
  messages: readonly AgentMessage[],
  definition: Shaping,
  facts: ContextFacts,
  registered: RegisteredFunctions,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const { transforms, converters } = registered;
  let shaped = messages;
  for (const name of definition.transformContext) {
    const transform = transforms.get(name);
    const before = shaped;
    shaped = await callContextFunction(`The context transform "${name}"`, AgentMessage, signal, (within) =>
      transform?.(before, facts, within),
    );
  }
  const { convertToLlm } = definition;
  if (convertToLlm === null) {
    const left = shaped.filter((message) => message.role !== "extension");
    if (left.length > 0) return left;
    throw new ApplicationError("context", "The context transforms left no message that a model can read");
  }
  const convert = converters.get(convertToLlm);
  return await callContextFunction(`The context converter "${convertToLlm}"`, Message, signal, (within) =>
    convert?.(shaped, facts, within),
  );
}

async function callContextFunction<Schema extends typeof AgentMessage | typeof Message>(
  who: string,
  schema: Schema,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => unknown,
): Promise<readonly z.infer<Schema>[]> {
  const answer = await askWithTimeout(ask, { signal, timeoutMs: DEFAULT_HOOK_TIMEOUT_MS });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  if (answer.type === "failed")
    throw new ApplicationError(
      "context",
      `${who} failed: ${redactPreview(answer.message, MAX_MESSAGE_BYTES)}`,
    );
  const parsed = z.array(schema).min(1).safeParse(answer.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? "" : ` (at ${issue.path.join(".")})`;
    throw new ApplicationError(
      "context",
      `${who} did not return a list of messages${where}: ${issue?.message}`,
    );
  }
  const messages = parsed.data as readonly z.infer<Schema>[];
  const orphan = findOrphan(messages);
  if (orphan !== undefined) {
    throw new ApplicationError(
      "context",
      `${who} separated a call from its result, which no vendor accepts: ${orphan}`,
    );
  }
  return messages;
}
