import { Context } from "@temporalio/activity";
import { type Candidate, isOutage, type KnownOutage, type Outages } from "../../models/outages.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { ModelFallback } from "../../schema/loop-event.ts";
import type { ModelConfig } from "../../schema/model.ts";

/** The most bytes of a vendor's message in history; with the "..." of a cut, 160. */
const MESSAGE_BYTES = 157;

/** Lists the models of an agent, in the order in which they are called. */
export function listModels({ model, fallbacks = [] }: AgentDefinition): readonly ModelConfig[] {
  return [model, ...fallbacks];
}

export type FallbackAnswer<Answer> = {
  readonly answer: Answer;
  /** The definition with the model that answered as its own: prices and outputs are those of that model. */
  readonly definition: AgentDefinition;
  readonly fallback?: ModelFallback;
};

export type FallbackOptions<Answer> = {
  readonly outages: Outages;
  /** Calls the definition's model. */
  readonly ask: (definition: AgentDefinition) => Promise<Answer>;
  /** Estimates the tokens of the request and of the longest answer to it. */
  readonly estimateSize: (definition: AgentDefinition) => number | Promise<number>;
  readonly isLastAttempt?: () => boolean;
};

type FailedModel = { readonly model: ModelConfig; readonly error: ProviderError };

/**
 * Calls the agent's model, and then its fallbacks when another call of that model is of no use. Each fallback is
 * called once; when none answers, the failure is the own model's. A model that this worker has just found unavailable
 * is called after the others.
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
      return { answer, definition: asked, fallback: buildFallback(model, candidates, models, failed) };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.fault === "cancelled") throw error;
      // A model that Temporal's retry calls again has not failed for good.
      const isOver = !isOwn || isTrial || canFallBack(error, definition, isLastAttempt);
      if (isOver) outages.recordFailure(model, error);
      if (isOwn && !(isOver && isOutage(error))) throw error;
      failed.push({ model, error });
    }
  }
  throw buildCombinedError(definition.model, failed);
}

/** Returns whether another model may succeed where this one failed, and waiting for this one is of no use. */
function canFallBack(
  error: ProviderError,
  { retry }: AgentDefinition,
  isLastAttempt: () => boolean,
): boolean {
  const { fault, retryAfterMs = 0 } = error;
  const recovers = fault === "rate-limited" || fault === "network";
  return recovers ? isLastAttempt() || retryAfterMs > retry.maxDelayMs : isOutage(error);
}

/** Returns whether Temporal would not retry. */
export function isOnLastAttempt({ retry }: AgentDefinition): boolean {
  const { attempt, retryPolicy } = Context.current().info;
  return attempt >= (retryPolicy?.maximumAttempts ?? retry.maxRetries + 1);
}

function buildTooSmallError({ provider, id, contextWindow }: ModelConfig, need: number): ProviderError {
  const reason = `not called: about ${need} tokens, including the answer, do not fit into the ${contextWindow} tokens of ${provider}/${id}`;
  return new ProviderError("overflow", reason);
}

function buildOutageError({ fault, message: text, retryInMs }: KnownOutage): ProviderError {
  return new ProviderError(fault, `not called again for ${Math.ceil(retryInMs / 1000)} s: ${text}`);
}

/** Describes why each model before this one, or called before it, has not answered, in the definition's order. */
function buildFallback(
  to: ModelConfig,
  candidates: readonly Candidate[],
  models: readonly ModelConfig[],
  failed: readonly FailedModel[],
): ModelFallback {
  const from = models.flatMap((model, index) => {
    const down = candidates.find((one) => one.model === model)?.outage;
    const asked = failed.find((one) => one.model === model)?.error;
    const error =
      asked ?? (down === undefined || index > models.indexOf(to) ? undefined : buildOutageError(down));
    if (model === to || error === undefined) return [];
    const { provider, id } = model;
    return [
      { provider, model: id, fault: error.fault, message: redactPreview(error.message, MESSAGE_BYTES) },
    ];
  });
  return { to: { provider: to.provider, model: to.id }, from };
}

function buildCombinedError(own: ModelConfig, failed: readonly FailedModel[]): unknown {
  const first = failed.find(({ model }) => model === own);
  if (first === undefined) throw new TypeError("An agent must have a model");
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
