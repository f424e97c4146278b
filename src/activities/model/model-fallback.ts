import { Context } from "@temporalio/activity";
import { type Candidate, isOutage, type KnownOutage, type Outages } from "../../models/outages.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { ModelFallback } from "../../schema/record.ts";

/** Of what a model said, in history; with the "..." of a cut, 160. */
const MESSAGE_BYTES = 157;

/** The models of an agent, in the order in which they are asked. */
export function listModels({ model, fallbacks = [] }: AgentDefinition): readonly ModelConfig[] {
  return [model, ...fallbacks];
}

export type FallbackAnswer<Answer> = {
  readonly answer: Answer;
  /** The definition with the model that has answered as its own: prices and outputs are that one's. */
  readonly definition: AgentDefinition;
  readonly fellBack?: ModelFallback;
};

export type FallbackOptions<Answer> = {
  readonly outages: Outages;
  /** Asks the definition's model. */
  readonly ask: (definition: AgentDefinition) => Promise<Answer>;
  /** Tokens of the question and of the longest answer to it, by our own count. */
  readonly estimateSize: (definition: AgentDefinition) => number | Promise<number>;
  readonly isLastAttempt?: () => boolean;
};

type FailedModel = { readonly model: ModelConfig; readonly error: ProviderError };

/**
 * Asks the agent's model, and the next of its fallbacks where it is of no use to ask that one again. Each fallback is
 * asked once; when none has answered, the failure is the model's own. One that this worker has just found down is asked
 * after the others.
 */
export async function askWithFallbacks<Answer>(
  definition: AgentDefinition,
  {
    outages,
    ask,
    estimateSize: sizeFor,
    isLastAttempt = () => isOnLastAttempt(definition),
  }: FallbackOptions<Answer>,
): Promise<FallbackAnswer<Answer>> {
  if ((definition.fallbacks ?? []).length === 0) return { answer: await ask(definition), definition };
  const models = listModels(definition);
  const candidates = outages.order(models);
  const failed: FailedModel[] = [];
  for (const { model, isTrial } of candidates) {
    const isOwn = model === definition.model;
    const asked = isOwn ? definition : { ...definition, model };
    if (!isOwn && (await sizeFor(asked)) > model.contextWindow) {
      failed.push({ model, error: buildTooSmallError(model, await sizeFor(asked)) });
      continue;
    }
    outages.recordAttempt(model);
    try {
      const answer = await ask(asked);
      outages.recordSuccess(model);
      if (isOwn) return { answer, definition };
      return { answer, definition: asked, fellBack: buildFallback(model, candidates, models, failed) };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.fault === "cancelled") throw error;
      // One that is asked again by Temporal's retry is not given up yet.
      const isOver = !isOwn || isTrial || canFallBack(error, definition, isLastAttempt);
      if (isOver) outages.recordFailure(model, error);
      if (isOwn && !(isOver && isOutage(error))) throw error;
      failed.push({ model, error });
    }
  }
  throw buildCombinedError(definition.model, failed);
}

/** Whether another model may do what this one could not, and this one cannot be waited for. */
function canFallBack(
  error: ProviderError,
  { retry }: AgentDefinition,
  isLastAttempt: () => boolean,
): boolean {
  const { fault, retryAfterMs = 0 } = error;
  const recovers = fault === "rate-limited" || fault === "network";
  return recovers ? isLastAttempt() || retryAfterMs > retry.maxDelayMs : isOutage(error);
}

/** Whether Temporal would not try again. */
export function isOnLastAttempt({ retry }: AgentDefinition): boolean {
  const { attempt, retryPolicy } = Context.current().info;
  return attempt >= (retryPolicy?.maximumAttempts ?? retry.maxRetries + 1);
}

function buildTooSmallError({ provider, id, contextWindow }: ModelConfig, need: number): ProviderError {
  const reason = `not asked: about ${need} tokens, an answer among them, do not fit into the ${contextWindow} of ${provider}/${id}`;
  return new ProviderError("overflow", reason);
}

function buildOutageError({ fault, said: text, againInMs: retryInMs }: KnownOutage): ProviderError {
  return new ProviderError(fault, `not asked again for ${Math.ceil(retryInMs / 1000)} s: ${text}`);
}

/** Why none of those before it has answered, or of those that were asked before it, in the definition's order. */
function buildFallback(
  to: ModelConfig,
  candidates: readonly Candidate[],
  models: readonly ModelConfig[],
  failed: readonly FailedModel[],
): ModelFallback {
  const from = models.flatMap((model, index) => {
    const down = candidates.find((one) => one.model === model)?.down;
    const asked = failed.find((one) => one.model === model)?.error;
    const error =
      asked ?? (down === undefined || index > models.indexOf(to) ? undefined : buildOutageError(down));
    if (model === to || error === undefined) return [];
    const { provider, id } = model;
    return [{ provider, model: id, fault: error.fault, said: redactPreview(error.message, MESSAGE_BYTES) }];
  });
  return { to: { provider: to.provider, model: to.id }, from };
}

function buildCombinedError(own: ModelConfig, failed: readonly FailedModel[]): unknown {
  const first = failed.find(({ model }) => model === own);
  if (first === undefined) throw new TypeError("An agent has a model");
  const { fault, message, status, requestId, vendorType, retryAfterMs } = first.error;
  const also = failed
    .filter((one) => one !== first)
    .map(
      ({ model, error }) => `${model.provider}/${model.id}: ${redactPreview(error.message, MESSAGE_BYTES)}`,
    );
  const combined = `${message} The fallbacks failed too: ${also.join("; ")}`;
  return new ProviderError(fault, combined, {
    status,
    requestId,
    vendorType,
    retryAfterMs,
    cause: first.error,
  });
}
