import { stat } from "node:fs/promises";
import { Context } from "@temporalio/activity";
import { triggerLevel } from "../core/compaction/trigger.ts";
import type { LoopDigest, ToolFacts } from "../core/digest.ts";
import { loopSegment } from "../core/loop-segment.ts";
import { materialise, type ViewRanges } from "../core/view.ts";
import { resolveHeaders, resolveSecrets } from "../providers/secrets.ts";
import { type AgentDefinition, Continuation, type Limits } from "../schema/definition.ts";
import { type Tool, toolDefinition } from "../tools/tool.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { OpenLoopInput } from "./activities.ts";
import { unloadMessage } from "./cargo.ts";
import { parsed, parsedDefinition } from "./definitions.ts";
import type { Dependencies } from "./dependencies.ts";
import { asFailure, DefinitionError } from "./failure.ts";
import { checkFilters, filterPrompts } from "./filter-prompts.ts";
import { currentStep } from "./step.ts";

/**
 * Pins what the loop runs with and opens its record (design 3.13). All that can be known to be wrong before a model
 * is paid is found here.
 */
export async function openLoop(input: OpenLoopInput, dependencies: Dependencies): Promise<LoopDigest> {
  const { transcript } = dependencies;
  try {
    const definition = await asked(input, dependencies);
    const { tools, offered, warnings } = facts(definition, dependencies);
    const { inputFilters } = definition;
    checkModel(definition, dependencies);
    checkFilters(inputFilters, dependencies);
    await checkWorkspace(definition.workspace);
    const definitionHash = await transcript.saveDefinition(definition);
    const prompts = await Promise.all(
      input.prompts.map(async ({ origin, ...prompt }) => ({
        ...(await unloadMessage(prompt, transcript)),
        origin,
      })),
    );
    const step = currentStep(input, dependencies.process);
    const continuation =
      input.continuation === undefined ? undefined : parsed("continuation", Continuation, input.continuation);
    if (continuation !== undefined)
      await mustBeContinuable(step.session, continuation, prompts.length, transcript);
    const { cancellationSignal } = Context.current();
    const filtered = await filterPrompts(inputFilters, prompts, dependencies, cancellationSignal);
    const limits = { ...definition.limits, ...continuation?.limits } as Limits;
    // An earlier execution of this step may have heard something else of its filters: what it has stored counts.
    const opened = await transcript.openLoop({
      step,
      atMs: Date.now(),
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
      segment: loopSegment(definition),
      kind: continuation?.kind ?? { type: "initial" },
      ...(continuation?.at === undefined ? {} : { at: continuation.at }),
      ...filtered,
      terms: { tools: offered, limits },
    });
    return {
      ...opened,
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
      limits,
      toolStrategy: definition.toolStrategy,
      steeringMode: definition.steeringMode,
      followUpMode: definition.followUpMode,
      maxRetries: definition.retry.maxRetries,
      permissions: definition.permissions,
      ...(definition.context === null ? {} : { context: { compactAbove: triggerLevel(definition.context) } }),
      approvals: definition.approvals,
      ...(definition.nudges.enabled ? { nudges: definition.nudges.max } : {}),
      tools,
      warnings,
    } as LoopDigest;
  } catch (error) {
    throw asFailure(error);
  }
}

/** LOOP-04: there is a conversation, and it does not end with an answer; failed ones do not count. */
async function mustBeContinuable(
  session: string,
  { at }: Continuation,
  prompts: number,
  transcript: Transcript,
): Promise<void> {
  const record = await transcript.session(session);
  if (record === undefined) throw new DefinitionError(`There is no session ${session} to continue`);
  const branch = at?.branch ?? record.headBranch;
  const entries = await transcript.entries(session, branch, 0, at?.position ?? Number.MAX_SAFE_INTEGER);
  const all: ViewRanges = { branch, ranges: [{ from: 0, to: entries.length }] };
  const last = materialise(all, entries).at(-1);
  if (last === undefined) throw new DefinitionError(`Session ${session} holds no messages to continue from`);
  if (last.role === "assistant" && prompts === 0) {
    throw new DefinitionError(
      `Session ${session} ends with an answer: there is nothing to continue; send a prompt instead`,
    );
  }
}

async function asked(input: OpenLoopInput, { definitions }: Dependencies): Promise<AgentDefinition> {
  if (input.definition === undefined) {
    if (input.definitionHash !== undefined) return await definitions.byHash(input.definitionHash);
    throw new DefinitionError("The run names no definition: start it with `definition` or `definitionHash`");
  }
  return parsedDefinition(input.definition);
}

/** PHI-06: a tool's own limit, else the definition's, else none. */
export function timeLimitOf(
  { timeoutMs }: Pick<Tool, "timeoutMs">,
  { toolTimeoutMs }: Pick<AgentDefinition, "toolTimeoutMs">,
): number | undefined {
  return timeoutMs ?? toolTimeoutMs ?? undefined;
}

function facts(definition: AgentDefinition, { tools, log }: Dependencies) {
  const resolved = tools.resolve(definition.tools, { strict: definition.strict });
  if (!resolved.ok) throw new DefinitionError(resolved.errors.join("; "));
  for (const warning of resolved.warnings) log.warn({ agent: definition.name }, warning);
  const known: Record<string, ToolFacts> = {};
  for (const { name, replay, quick, confirm, ...tool } of resolved.tools) {
    const timeoutMs = timeLimitOf(tool, definition);
    known[name] = {
      replay,
      quick,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(confirm ? { confirm } : {}),
    };
  }
  return { tools: known, offered: resolved.tools.map(toolDefinition), warnings: resolved.warnings };
}

function checkModel({ model }: AgentDefinition, { providers, secrets }: Dependencies): void {
  if (!providers.has(model.api)) {
    throw new DefinitionError(
      `This worker does not speak ${model.api}; it speaks ${providers.protocols().join(", ")}`,
    );
  }
  if (model.apiKey !== undefined) resolveSecrets(model.apiKey, secrets);
  resolveHeaders(model.headers, secrets);
}

async function checkWorkspace(workspace: string | undefined): Promise<void> {
  if (workspace === undefined) return;
  const found = await stat(workspace).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    throw new DefinitionError(
      `The workspace ${workspace} cannot be used on this worker's host: ${found.code ?? found.message}`,
    );
  }
  if (!found.isDirectory()) throw new DefinitionError(`The workspace ${workspace} is not a folder`);
}
