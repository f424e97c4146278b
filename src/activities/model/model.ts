import { Context } from "@temporalio/activity";
import { askedFor } from "../../conversation/final-tool.ts";
import { systemPromptOf } from "../../conversation/system-prompt.ts";
import type { ModelDigest } from "../../core/machine/state/digest.ts";
import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import type { Shown } from "../../core/view/view.ts";
import { cacheKeyOf } from "../../models/cache-key.ts";
import type { ModelDelta, ModelRequest, StreamOptions } from "../../models/provider.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { resolveHeaders, resolveSecrets } from "../../models/secrets.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage, Message } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { DeltaBody } from "../../store/stream/stream.ts";
import { type Tool, toolDefinition } from "../../tools/tool.ts";
import type { ModelInput } from "../activities.ts";
import { keepWorkspace } from "../close-loop/keep-workspace.ts";
import type { Dependencies } from "../dependencies.ts";
import { watchOffers } from "../open-loop/watch-offers.ts";
import { ApplicationError, asFailure } from "../step/failure.ts";
import { beating } from "../step/heartbeat.ts";
import { liveOutput } from "../step/live.ts";
import { currentStep } from "../step/step.ts";
import { storedStep } from "../step/stored-step.ts";
import { answerDigest } from "./answer-digest.ts";
import { askOnce } from "./ask-once.ts";
import { type Answered, onLastAttempt, withFallbacks } from "./fallback.ts";
import { logAnswer } from "./log-answer.ts";
import { logRetry } from "./log-retry.ts";
import { toolsAtHand, toolsFor } from "./offered-tools.ts";
import { isPlain, shapeContext } from "./shape-context.ts";
import { outputPlan } from "./structured-output.ts";
import { Waits } from "./waits.ts";

/** Of a failure that is shown live; with the "..." of a cut, 300. */
const FAILURE_BYTES = 297;

type Watched = Pick<StreamOptions, "onWait"> & { readonly publish: (body: DeltaBody) => void };

/**
 * Asks the model once. An answer that is stored already is given back unpaid; a new one is stored before it is
 * answered to Temporal.
 */
export async function callModel(input: ModelInput, dependencies: Dependencies): Promise<ModelDigest> {
  const { transcript, definitions, hub, log } = dependencies;
  const { cancellationSignal: signal, info } = Context.current();
  const step = currentStep(input, dependencies.process);
  const publish = liveOutput(hub, step, input);
  const waits = new Waits(publish);
  let executions = 0;
  return await beating(
    () => ({ attempts: executions, ...waits.details }),
    async () => {
      const definition = await definitions.byHash(input.definitionHash).catch((error) => {
        throw asFailure(error);
      });
      watchOffers(definition, input, dependencies);
      try {
        return await storedStep(step, input, dependencies, async (claim) => {
          executions = claim.executions;
          const at = { session: step.session, branch: claim.branch, position: input.position };
          const kept = keepWorkspace(definition, at, dependencies, signal);
          const shown = { publish, onWait: waits.onWait, signal };
          const asked = ask(input, claim.branch, definition, dependencies, step, shown);
          const { answer: message, fellBack, ...by } = await asked.finally(() => kept);
          logAnswer(log, { session: step.session, loopId: input.loopId, turn: input.turn }, message);
          return {
            result: {
              ...(await answerDigest(message, by.definition, dependencies, info.attempt)),
              ...(fellBack === undefined ? {} : { fellBack }),
            },
            entries: [{ position: input.position, origin: "model", message }],
          };
        });
      } catch (error) {
        const isOver = error instanceof ProviderError || error instanceof ApplicationError;
        if (isOver) await transcript.release(step).catch(() => undefined);
        const { deadlineMs = Number.POSITIVE_INFINITY } = input;
        const failure = asFailure(error, definition.retry, {
          isLastAttempt: onLastAttempt(definition),
          leftMs: deadlineMs - Date.now(),
        });
        const delayMs = logRetry(failure, definition.retry.maxRetries, log);
        if (delayMs !== undefined) publish(askedAgain(failure, delayMs));
        throw failure;
      }
    },
  );
}

async function ask(
  input: ModelInput,
  branch: string,
  definition: AgentDefinition,
  dependencies: Dependencies,
  step: ReturnType<typeof currentStep>,
  { publish, onWait, signal }: Watched & { readonly signal: AbortSignal },
): Promise<Answered<AssistantMessage>> {
  const { log, outages, tools } = dependencies;
  const { session } = step;
  const asking = { isRepair: input.repair === true, shown: input.view.ranges };
  const contexts = new Map<ModelConfig, Promise<readonly Message[]>>();
  const contextFor = (asked: AgentDefinition) => {
    const known = contexts.get(asked.model);
    const context = known ?? contextOf(input, branch, asked, dependencies, session, signal);
    contexts.set(asked.model, context);
    return context;
  };
  const options = {
    signal,
    onWait,
    onDelta: (delta: ModelDelta) => publish(shown(delta)),
    ...(input.deadlineMs === undefined ? {} : { maxWaitMs: input.deadlineMs - Date.now() }),
  };
  const answered = await withFallbacks(definition, {
    outages,
    ask: async (asked) => {
      const messages = await contextFor(asked);
      const request = () => ({
        ...modelRequest(asked, messages, dependencies, asking),
        cacheKey: cacheKeyOf(session),
      });
      const again = () => publish({ type: "attempt" });
      again();
      return await askOnce(asked.model, request, dependencies, options, again);
    },
    sizeFor: async (asked) => sizeOf(asked, await contextFor(asked), tools, input.view.ranges),
  });
  const { answer, fellBack } = answered;
  if (fellBack !== undefined) log.warn({ session, ...fellBack }, "A fallback has answered");
  return { ...answered, answer: { ...answer, turnId: { loopId: input.loopId, turnIndex: input.turn } } };
}

/** Tokens of all that is sent, and of the longest answer that is asked for, by our own count. */
function sizeOf(
  definition: AgentDefinition,
  messages: readonly Message[],
  tools: Dependencies["tools"],
  shown: readonly Shown[],
): number {
  const { model, systemPrompt, maxTokens = model.maxTokens } = definition;
  const offered = toolsFor(definition, tools, shown).map(toolDefinition);
  const words =
    estimateText(systemPrompt) + (offered.length === 0 ? 0 : estimateText(JSON.stringify(offered)));
  const said = messages.reduce((sum, message) => sum + estimateMessage(message), words);
  return said + Math.min(maxTokens, model.maxTokens);
}

/** What is sent. Estimates stay those of the record, whatever an application makes of it. */
async function contextOf(
  { view, loopId, turn }: ModelInput,
  branch: string,
  definition: AgentDefinition,
  dependencies: Dependencies,
  session: string,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const { conversations, tools } = dependencies;
  const ranges = { ...view, branch };
  const labels = { labels: showsLabels(toolsAtHand(definition, tools)) };
  if (isPlain(definition)) return await conversations.messages(session, ranges, labels);
  const facts = { session, loopId, turn, agent: definition.name, model: definition.model.id };
  const copy = await conversations.copy(session, ranges, labels);
  return await shapeContext(copy, definition, facts, dependencies, signal);
}

/** Entries have names where the model has a tool to go back to one (PHI-05). */
export function showsLabels(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.kind === "view" && tool.act === "revert");
}

/** `shown`: how the entries of the view are shown. */
export type Asking = { readonly isRepair: boolean; readonly shown: readonly Shown[] };

/** What a turn asks the model, with secrets as they are now. */
export function modelRequest(
  definition: AgentDefinition,
  messages: readonly Message[],
  { tools, secrets, providers }: Pick<Dependencies, "tools" | "secrets" | "providers">,
  { isRepair, shown }: Asking,
): ModelRequest {
  const { model } = definition;
  const plan = outputPlan(definition, providers);
  const asked = {
    systemPrompt: systemPromptOf(definition),
    tools: toolsFor(definition, tools, shown).map(toolDefinition),
  };
  return {
    model,
    apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
    headers: resolveHeaders(model.headers, secrets),
    messages,
    ...(plan === undefined ? asked : askedFor(plan, asked, isRepair)),
    thinking: definition.thinking,
    temperature: definition.temperature,
    maxTokens: definition.maxTokens,
    cache: definition.cache,
  };
}

/** For those who watch. */
function askedAgain({ message }: Error, delayMs: number): DeltaBody {
  const said = shownBriefly(message, FAILURE_BYTES);
  return { type: "waiting", text: `the model is asked again in ${(delayMs / 1000).toFixed(1)} s: ${said}` };
}

function shown(delta: ModelDelta): DeltaBody {
  return delta.type === "toolCall"
    ? { type: "tool-call", toolCallId: delta.id, toolName: delta.name, text: delta.delta }
    : { type: delta.type, text: delta.delta };
}
