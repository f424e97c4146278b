import { Context } from "@temporalio/activity";
import { assertNever } from "../core/assert-never.ts";
import { estimateMessage, estimateText } from "../core/estimate.ts";
import { shownBriefly } from "../core/redact.ts";
import { isServerFault } from "../providers/classify.ts";
import { ProviderError } from "../providers/provider-error.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { Message } from "../schema/message.ts";
import type { ModelConfig } from "../schema/model.ts";
import type { FellBack } from "../schema/record.ts";

/** Of what a model said, in history; with the "..." of a cut, 160. */
const SAID_BYTES = 157;

/** The models of an agent, in the order in which they are asked. */
export function modelsOf({ model, fallbacks = [] }: AgentDefinition): readonly ModelConfig[] {
  return [model, ...fallbacks];
}

export type Answered<Answer> = {
  readonly answer: Answer;
  /** The definition with the model that has answered as its own: prices and outputs are that one's. */
  readonly definition: AgentDefinition;
  readonly fellBack?: FellBack;
};

/**
 * Asks the agent's model, and the next of its fallbacks where it is of no use to ask that one again. Each fallback is
 * asked once; when none has answered, the failure is the model's own.
 */
export async function withFallbacks<Answer>(
  definition: AgentDefinition,
  messages: readonly Message[],
  askOne: (definition: AgentDefinition) => Promise<Answer>,
  isLastAttempt = onLastAttempt(definition),
): Promise<Answered<Answer>> {
  const [model, ...fallbacks] = modelsOf(definition);
  const failed: { readonly model: ModelConfig; readonly error: ProviderError }[] = [];
  let need: number | undefined;
  for (const one of [model as ModelConfig, ...fallbacks]) {
    const asked = { ...definition, model: one };
    if (failed.length > 0) {
      need ??= tokensOf(definition, messages);
      if (need + (definition.maxTokens ?? one.maxTokens) > one.contextWindow) {
        failed.push({ model: one, error: tooSmall(one, need) });
        continue;
      }
    }
    try {
      const answer = await askOne(asked);
      if (failed.length === 0) return { answer, definition };
      return { answer, definition: asked, fellBack: fellBackTo(one, failed) };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.fault === "cancelled") throw error;
      const isFirst = failed.length === 0;
      if (isFirst && (fallbacks.length === 0 || !passesOn(error, definition, isLastAttempt))) throw error;
      failed.push({ model: one, error });
    }
  }
  throw allFailed(failed.map(({ model: { provider, id }, error }) => ({ name: `${provider}/${id}`, error })));
}

/** Whether another model may do what this one could not, and this one cannot be waited for. */
function passesOn(error: ProviderError, { retry }: AgentDefinition, isLastAttempt: boolean): boolean {
  const { fault, status, retryAfterMs = 0 } = error;
  switch (fault) {
    case "rate-limited":
    case "network":
      return isLastAttempt || retryAfterMs > retry.maxDelayMs;
    case "auth":
      return true;
    case "api":
      // 402: it wants to be paid first.
      return isServerFault(error) || status === 402;
    case "overflow":
    case "cancelled":
    case "other":
      return false;
    default:
      return assertNever(fault);
  }
}

function onLastAttempt({ retry }: AgentDefinition): boolean {
  const { attempt, retryPolicy } = Context.current().info;
  return attempt >= (retryPolicy?.maximumAttempts ?? retry.maxRetries + 1);
}

function tokensOf({ systemPrompt }: AgentDefinition, messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), estimateText(systemPrompt));
}

function tooSmall({ provider, id, contextWindow }: ModelConfig, need: number): ProviderError {
  const why = `not asked: about ${need} tokens and an answer do not fit into the ${contextWindow} of ${provider}/${id}`;
  return new ProviderError("overflow", why);
}

function fellBackTo(
  { provider, id }: ModelConfig,
  failed: readonly { readonly model: ModelConfig; readonly error: ProviderError }[],
): FellBack {
  return {
    to: { provider, model: id },
    from: failed.map(({ model, error: { fault, message } }) => ({
      provider: model.provider,
      model: model.id,
      fault,
      said: shownBriefly(message, SAID_BYTES),
    })),
  };
}

function allFailed(failed: readonly { readonly name: string; readonly error: ProviderError }[]): unknown {
  const [first, ...others] = failed;
  if (first === undefined) throw new TypeError("An agent has a model");
  const { fault, message, status, requestId, vendorType, retryAfterMs } = first.error;
  const also = others.map(({ name, error }) => `${name}: ${shownBriefly(error.message, SAID_BYTES)}`);
  const said = `${message} The fallbacks failed too: ${also.join("; ")}`;
  return new ProviderError(fault, said, { status, requestId, vendorType, retryAfterMs, cause: first.error });
}
