import { Context } from "@temporalio/activity";
import { isTranslated } from "../../conversation/context-translation.ts";
import { addOutputToRequest } from "../../conversation/final-tool.ts";
import { buildSystemPrompt } from "../../conversation/system-prompt.ts";
import type { ModelDigest } from "../../core/machine/state/digest.ts";
import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import { fitToModel } from "../../core/view/model-input.ts";
import type { SpanFormat } from "../../core/view/view.ts";
import { deriveCacheKey } from "../../models/cache-key.ts";
import type { ModelDelta, ModelRequest, StreamOptions } from "../../models/provider.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { resolveHeaders, resolveSecrets } from "../../models/secrets.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage, Message } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { DeltaBody } from "../../store/stream/stream-hub.ts";
import type { Step } from "../../store/transcript/step.ts";
import { type Tool, toToolDefinition } from "../../tools/tool.ts";
import type { CallModelInput } from "../activity-types.ts";
import { snapshotWorkspace } from "../close-loop/snapshot-workspace.ts";
import type { Dependencies } from "../dependencies.ts";
import { watchToolLists } from "../open-loop/watch-tool-lists.ts";
import { ApplicationError, toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { type Publish, withLiveOutput } from "../step/live-output.ts";
import { getCurrentStep } from "../step/step.ts";
import { runStoredStep } from "../step/stored-step.ts";
import { buildAnswerDigest } from "./answer-digest.ts";
import { askOnce } from "./ask-once.ts";
import { getAvailableTools, getToolsForView } from "./available-tools.ts";
import { logAnswer } from "./log-answer.ts";
import { logRetry } from "./log-retry.ts";
import { askWithFallbacks, type FallbackAnswer, isOnLastAttempt } from "./model-fallback.ts";
import { isPlain, shapeContext } from "./shape-context.ts";
import { askOrReadAnswer } from "./stored-answers.ts";
import { buildOutputPlan } from "./structured-output.ts";
import { WaitReporter } from "./wait-reporter.ts";

/** The most bytes of a failure that is published live; with the "..." of a cut, 300. */
const FAILURE_BYTES = 297;

type ModelObserver = Pick<StreamOptions, "onWait"> & { readonly publish: Publish };

/**
 * Calls the model once. A stored answer is returned without a new call; a new answer is stored before Temporal
 * receives its digest.
 */
export async function callModel(input: CallModelInput, dependencies: Dependencies): Promise<ModelDigest> {
  const step = getCurrentStep(input, dependencies.process);
  return await withLiveOutput(dependencies.hub, step, input, (publish) =>
    callModelOnce(input, step, publish, dependencies),
  );
}

async function callModelOnce(
  input: CallModelInput,
  step: Step,
  publish: Publish,
  dependencies: Dependencies,
): Promise<ModelDigest> {
  const { transcript, definitions, log } = dependencies;
  const { cancellationSignal: signal, info } = Context.current();
  const waits = new WaitReporter(publish);
  let executions = 0;
  return await withHeartbeat(
    () => ({ attempts: executions, ...waits.details }),
    async () => {
      const definition = await definitions.read(input.definitionHash).catch((error) => {
        throw toFailure(error);
      });
      watchToolLists(definition, input, dependencies);
      try {
        return await runStoredStep(step, input, dependencies, async (claim) => {
          executions = claim.executions;
          const at = { session: step.session, branch: claim.branch, position: input.position };
          const kept = snapshotWorkspace(definition, at, dependencies, signal);
          const shown = { publish, onWait: waits.onWait, signal };
          const asked = ask(input, claim.branch, definition, dependencies, step, shown);
          const { answer: message, fallback, ...by } = await asked.finally(() => kept);
          logAnswer(log, { session: step.session, loopId: input.loopId, turn: input.turn }, message);
          return {
            result: {
              ...(await buildAnswerDigest(message, by.definition, dependencies, {
                attempts: info.attempt,
                textOnly: input.textOnly === true,
              })),
              ...omitUndefined({ fallback }),
            },
            entries: [{ position: input.position, origin: "model", message }],
          };
        });
      } catch (error) {
        const isOver = error instanceof ProviderError || error instanceof ApplicationError;
        if (isOver) await transcript.release(step).catch(() => undefined);
        const { deadlineMs = Number.POSITIVE_INFINITY } = input;
        const failure = toFailure(error, definition.retry, {
          isLastAttempt: isOnLastAttempt(definition),
          leftMs: deadlineMs - Date.now(),
        });
        const delayMs = logRetry(failure, definition.retry.maxRetries, log);
        if (delayMs !== undefined) publish(buildRetryDelta(failure, delayMs), { isLasting: true });
        throw failure;
      }
    },
  );
}

async function ask(
  input: CallModelInput,
  branch: string,
  definition: AgentDefinition,
  dependencies: Dependencies,
  step: Step,
  { publish, onWait, signal }: ModelObserver & { readonly signal: AbortSignal },
): Promise<FallbackAnswer<AssistantMessage>> {
  const { log, outages, tools } = dependencies;
  const { session } = step;
  const asking = {
    isRepair: input.isRepair === true,
    textOnly: input.textOnly === true,
    formats: input.view.ranges,
  };
  const contexts = new Map<ModelConfig, Promise<readonly Message[]>>();
  const contextFor = (asked: AgentDefinition) => {
    const known = contexts.get(asked.model);
    const context = known ?? readContext(input, branch, asked, dependencies, session, signal);
    contexts.set(asked.model, context);
    return context;
  };
  const options = {
    signal,
    onWait,
    onDelta: (delta: ModelDelta) => publish(toDeltaBody(delta)),
    ...(input.deadlineMs === undefined ? {} : { maxWaitMs: input.deadlineMs - Date.now() }),
  };
  const answered = await askWithFallbacks(definition, {
    outages,
    ask: async (asked) => {
      const messages = await contextFor(asked);
      const request = () => ({
        ...buildModelRequest(asked, messages, dependencies, asking),
        cacheKey: deriveCacheKey(session),
      });
      const again = () => publish({ type: "attempt" });
      const send = async () => {
        again();
        return await askOnce(asked.model, request, dependencies, options, again);
      };
      if (definition.answers === undefined) return await send();
      const scope = { ...definition.answers, session };
      return await askOrReadAnswer(request(), scope, dependencies.transcript.suites, send);
    },
    estimateSize: async (asked) =>
      estimateRequestSize(asked, await contextFor(asked), tools, input.view.ranges),
  });
  const { answer, fallback: usedFallback } = answered;
  if (usedFallback !== undefined) log.warn({ session, ...usedFallback }, "A fallback model answered");
  return { ...answered, answer: { ...answer, turnId: { loopId: input.loopId, turnIndex: input.turn } } };
}

/** Estimates the tokens of the request and of the longest answer to it. */
function estimateRequestSize(
  definition: AgentDefinition,
  messages: readonly Message[],
  tools: Dependencies["tools"],
  shown: readonly SpanFormat[],
): number {
  const { model, systemPrompt, maxTokens = model.maxTokens } = definition;
  const offered = getToolsForView(definition, tools, shown).map(toToolDefinition);
  const promptTokens =
    estimateText(systemPrompt) + (offered.length === 0 ? 0 : estimateText(JSON.stringify(offered)));
  const messageTokens = messages.reduce((sum, message) => sum + estimateMessage(message), promptTokens);
  return messageTokens + Math.min(maxTokens, model.maxTokens);
}

/** Reads the messages to send. The estimates stay those of the record, whatever an application changes. */
async function readContext(
  { view, loopId, turn }: CallModelInput,
  branch: string,
  definition: AgentDefinition,
  dependencies: Dependencies,
  session: string,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const { conversations, tools } = dependencies;
  const ranges = { ...view, branch };
  const labels = { labels: showsLabels(getAvailableTools(definition, tools)) };
  if (isPlain(definition)) {
    const fitted = fitToModel(await conversations.readMessages(session, ranges, labels), definition.model);
    return await conversations.loadData(fitted);
  }
  const facts = { session, loopId, turn, agent: definition.name, model: definition.model.id };
  const copy = await conversations.copyMessages(session, ranges, labels);
  const loaded = await conversations.loadData(copy);
  return fitToModel(await shapeContext(loaded, definition, facts, dependencies, signal), definition.model);
}

/** Returns whether entries have labels: they do when the model has a tool to revert to one (PHI-05). */
export function showsLabels(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.kind === "view" && tool.action === "revert");
}

/** `textOnly`: the model may make no call. `formats`: how the entries of the view are displayed. */
export type RequestOptions = {
  readonly isRepair: boolean;
  readonly textOnly?: boolean;
  readonly formats: readonly SpanFormat[];
};

/** Builds the request of a turn, with the current secrets. */
export function buildModelRequest(
  definition: AgentDefinition,
  messages: readonly Message[],
  { tools, secrets, providers }: Pick<Dependencies, "tools" | "secrets" | "providers">,
  { isRepair, textOnly = false, formats }: RequestOptions,
): ModelRequest {
  const { model } = definition;
  const plan = buildOutputPlan(definition, providers);
  const asked = {
    systemPrompt: buildSystemPrompt(definition),
    tools: getToolsForView(definition, tools, formats).map(toToolDefinition),
  };
  return {
    model,
    apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
    headers: resolveHeaders(model.headers, secrets),
    messages,
    ...(plan === undefined ? asked : addOutputToRequest(plan, asked, isRepair || textOnly)),
    // An output by way of the final tool is a call, and the only one that may be made.
    ...(textOnly && plan?.mode !== "final-tool" ? { textOnly: true as const } : {}),
    thinking: definition.thinking,
    temperature: definition.temperature,
    maxTokens: definition.maxTokens,
    cache: definition.cache,
    ...(isTranslated(definition) ? { isTranslated: true as const } : {}),
  };
}

/** Builds a delta for watchers. */
function buildRetryDelta({ message }: Error, delayMs: number): DeltaBody {
  const text = redactPreview(message, FAILURE_BYTES);
  return { type: "waiting", text: `the model call is retried in ${(delayMs / 1000).toFixed(1)} s: ${text}` };
}

function toDeltaBody(delta: ModelDelta): DeltaBody {
  return delta.type === "toolCall"
    ? { type: "tool-call", toolCallId: delta.id, toolName: delta.name, text: delta.delta }
    : { type: delta.type, text: delta.delta };
}
