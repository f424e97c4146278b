import { Context } from "@temporalio/activity";
import type { CallDigest, ModelDigest } from "../core/digest.ts";
import { estimateMessage } from "../core/estimate.ts";
import { isOverflowText } from "../core/overflow.ts";
import { truncateForPreview } from "../core/preview.ts";
import { redact } from "../core/redact.ts";
import { costOf } from "../core/usage.ts";
import type { ModelDelta, ModelRequest } from "../providers/provider.ts";
import { ProviderError } from "../providers/provider-error.ts";
import { invalidateSecrets, resolveHeaders, resolveSecrets } from "../providers/secrets.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { AssistantMessage, ToolCallContent } from "../schema/message.ts";
import type { PermissionPolicy } from "../schema/permission.ts";
import type { DeltaBody } from "../stream/stream.ts";
import { type Tool, toolDefinition } from "../tools/tool.ts";
import type { ModelInput } from "./activities.ts";
import { claimStep } from "./claim-step.ts";
import type { Dependencies } from "./dependencies.ts";
import { factsOf } from "./facts.ts";
import { asFailure, DefinitionError } from "./failure.ts";
import { beating } from "./heartbeat.ts";
import { liveOutput } from "./live.ts";
import { logRetry } from "./log-retry.ts";
import { patiently } from "./patience.ts";
import { readCall } from "./read-call.ts";
import { currentStep } from "./step.ts";
import { announcesUnmadeCall } from "./unmade-call.ts";

const PREVIEW_BYTES = 256;
const NOTHING = { entries: [], events: [] } as const;

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
  let executions = 0;
  return await beating(
    () => ({ attempts: executions }),
    async () => {
      try {
        const claimed = await claimStep(step, input, dependencies, signal);
        if (claimed.type === "stored") return { ...(claimed.result as ModelDigest), branch: claimed.branch };

        const { branch } = claimed;
        executions = claimed.executions;
        const message = await ask(input, branch, definition, dependencies, step, signal);
        const digest = await digestOf(message, definition, dependencies, info.attempt);
        const stored = await patiently(
          () =>
            transcript.store({
              loopId: input.loopId,
              base: input.base,
              branch,
              step,
              atMs: Date.now(),
              outbox: NOTHING,
              entries: [{ position: input.position, origin: "model", message }],
              result: digest,
            }),
          signal,
          log,
        );
        return { ...(stored.result as ModelDigest), branch: stored.branch };
      } catch (error) {
        if (error instanceof ProviderError) await transcript.release(step).catch(() => undefined);
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
  { conversations, providers, tools, secrets, hub }: Dependencies,
  step: ReturnType<typeof currentStep>,
  signal: AbortSignal,
): Promise<AssistantMessage> {
  const { model } = definition;
  const provider = providers.get(model.api);
  if (provider === undefined) throw new DefinitionError(`This worker does not speak ${model.api}`);
  const resolved = tools.resolve(definition.tools);
  const messages = await conversations.messages(step.session, { ...input.view, branch });
  const request = (): ModelRequest => ({
    model,
    apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
    headers: resolveHeaders(model.headers, secrets),
    systemPrompt: definition.systemPrompt,
    messages,
    tools: resolved.ok ? resolved.tools.map(toolDefinition) : [],
    thinking: definition.thinking,
    temperature: definition.temperature,
    maxTokens: definition.maxTokens,
    cache: definition.cache,
  });
  const publish = liveOutput(hub, step, input);
  publish({ type: "attempt" });
  const send = () => provider.stream(request(), { signal, onDelta: (delta) => publish(shown(delta)) });
  const answer = await send().catch(async (error: unknown) => {
    // CRED-01: once more, with credentials that were fetched anew.
    const refused = error instanceof ProviderError && error.fault === "auth";
    if (!refused || !(await invalidateSecrets(model, secrets))) throw error;
    publish({ type: "attempt" });
    return await send();
  });
  return { ...answer, turnId: { loopId: input.loopId, turnIndex: input.turn } };
}

function shown(delta: ModelDelta): DeltaBody {
  return delta.type === "toolCall"
    ? { type: "tool-call", toolCallId: delta.id, toolName: delta.name, text: delta.delta }
    : { type: delta.type, text: delta.delta };
}

async function digestOf(
  message: AssistantMessage,
  definition: AgentDefinition,
  { tools, defaultWorkspace }: Dependencies,
  attempts: number,
): Promise<ModelDigest> {
  const offered = tools.resolve(definition.tools);
  const workspace = definition.workspace ?? defaultWorkspace;
  const calls = await Promise.all(
    message.content.flatMap((part) =>
      part.type === "toolCall"
        ? [callDigest(part, offered.ok ? offered.tools : [], definition.permissions, workspace)]
        : [],
    ),
  );
  const overflow = message.stopReason === "error" && isOverflowText(message.errorMessage ?? "");
  return {
    branch: "",
    stopReason: message.stopReason,
    usage: message.usage,
    costUsd: costOf(message.usage, definition.model.cost),
    tokens: estimateMessage(message),
    calls,
    preview: truncateForPreview(
      redact(overflow ? (message.errorMessage ?? "") : textOf(message)),
      PREVIEW_BYTES,
    ),
    ...(overflow ? { overflow } : {}),
    ...(announcesUnmadeCall(message, definition, offered.ok ? offered.tools.length : 0)
      ? { announces: true }
      : {}),
    attempts,
  };
}

/** With the facts that the policy must know. */
async function callDigest(
  call: ToolCallContent,
  tools: readonly Tool[],
  permissions: PermissionPolicy,
  workspace: string,
): Promise<CallDigest> {
  const { digest, runs } = readCall(call, tools);
  if (runs === undefined) return digest;
  const facts = await factsOf(runs.tool, runs.value, permissions, workspace);
  return facts === undefined ? digest : { ...digest, facts };
}

export function textOf(message: AssistantMessage): string {
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}
