import { Context } from "@temporalio/activity";
import type { ModelDigest } from "../core/digest.ts";
import { askedFor } from "../core/final-tool.ts";
import { systemPromptOf } from "../core/system-prompt.ts";
import type { ModelDelta, ModelRequest, StreamOptions } from "../providers/provider.ts";
import { ProviderError } from "../providers/provider-error.ts";
import { invalidateSecrets, prepareSecrets, resolveHeaders, resolveSecrets } from "../providers/secrets.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { AssistantMessage, Message } from "../schema/message.ts";
import type { DeltaBody } from "../stream/stream.ts";
import { type Tool, toolDefinition } from "../tools/tool.ts";
import type { ModelInput } from "./activities.ts";
import { answerDigest } from "./answer-digest.ts";
import type { Dependencies } from "./dependencies.ts";
import { ApplicationError, asFailure, DefinitionError } from "./failure.ts";
import { type Answered, withFallbacks } from "./fallback.ts";
import { beating } from "./heartbeat.ts";
import { keepWorkspace } from "./keep-workspace.ts";
import { liveOutput } from "./live.ts";
import { logAnswer } from "./log-answer.ts";
import { logRetry } from "./log-retry.ts";
import { toolsAtHand } from "./offered-tools.ts";
import { isPlain, shapeContext } from "./shape-context.ts";
import { currentStep } from "./step.ts";
import { storedStep } from "./stored-step.ts";
import { outputPlan } from "./structured-output.ts";
import { watchOffers } from "./watch-offers.ts";

/**
 * Asks the model once. An answer that is stored already is given back unpaid; a new one is stored before it is
 * answered to Temporal.
 */
export async function callModel(input: ModelInput, dependencies: Dependencies): Promise<ModelDigest> {
  const { transcript, definitions, log } = dependencies;
  const { cancellationSignal: signal, info } = Context.current();
  const step = currentStep(input, dependencies.process);
  const definition = await definitions.byHash(input.definitionHash).catch((error) => {
    throw asFailure(error);
  });
  watchOffers(definition, input, dependencies);
  let executions = 0;
  return await beating(
    () => ({ attempts: executions }),
    async () => {
      try {
        return await storedStep(step, input, dependencies, signal, async (claim) => {
          executions = claim.executions;
          const at = { session: step.session, branch: claim.branch, position: input.position };
          const kept = keepWorkspace(definition, at, dependencies, signal);
          const asked = ask(input, claim.branch, definition, dependencies, step, signal);
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
        const failure = asFailure(error, definition.retry);
        logRetry(failure, definition.retry.maxRetries, log);
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
  signal: AbortSignal,
): Promise<Answered<AssistantMessage>> {
  const { hub, log } = dependencies;
  const messages = await contextOf(input, branch, definition, dependencies, step.session, signal);
  const publish = liveOutput(hub, step, input);
  const onDelta = (delta: ModelDelta) => publish(shown(delta));
  const answered = await withFallbacks(definition, messages, async (asked) => {
    const again = () => publish({ type: "attempt" });
    again();
    return await askModel(asked, messages, input.repair === true, dependencies, { signal, onDelta }, again);
  });
  const { answer, fellBack } = answered;
  if (fellBack !== undefined) log.warn({ session: step.session, ...fellBack }, "A fallback has answered");
  return { ...answered, answer: { ...answer, turnId: { loopId: input.loopId, turnIndex: input.turn } } };
}

/** Asks the definition's model, and once more where it does not take the key and another can be had (CRED-01). */
async function askModel(
  definition: AgentDefinition,
  messages: readonly Message[],
  isRepair: boolean,
  { providers, tools, secrets }: Dependencies,
  options: StreamOptions,
  again: () => void,
): Promise<AssistantMessage> {
  const { model } = definition;
  const provider = providers.get(model.api);
  if (provider === undefined) throw new DefinitionError(`This worker does not speak ${model.api}`);
  const used = await prepareSecrets(model, secrets);
  const send = () =>
    provider.stream(modelRequest(definition, messages, { tools, secrets, providers }, isRepair), options);
  return await send().catch(async (error: unknown) => {
    const refused = error instanceof ProviderError && error.fault === "auth";
    if (!refused || !(await invalidateSecrets(used, secrets))) throw error;
    await prepareSecrets(model, secrets);
    again();
    return await send();
  });
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
  return tools.some(({ view }) => view === "revert");
}

/** What a turn asks the model, with secrets as they are now. */
export function modelRequest(
  definition: AgentDefinition,
  messages: readonly Message[],
  { tools, secrets, providers }: Pick<Dependencies, "tools" | "secrets" | "providers">,
  isRepair: boolean,
): ModelRequest {
  const { model } = definition;
  const plan = outputPlan(definition, providers);
  const asked = {
    systemPrompt: systemPromptOf(definition),
    tools: toolsAtHand(definition, tools).map(toolDefinition),
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

function shown(delta: ModelDelta): DeltaBody {
  return delta.type === "toolCall"
    ? { type: "tool-call", toolCallId: delta.id, toolName: delta.name, text: delta.delta }
    : { type: delta.type, text: delta.delta };
}
