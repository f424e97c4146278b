import { getTranslation } from "../../conversation/context-translation.ts";
import { addOutputToRequest } from "../../conversation/final-tool.ts";
import type { BlockOrigin, SourcedMessage } from "../../conversation/provenance.ts";
import { buildSystemPrompt } from "../../conversation/system-prompt.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Limits } from "../../schema/limits.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { findTurnOnLine } from "./line-turns.ts";
import { getOfferedTools, readTurnContext, type TurnContext } from "./read-turn-context.ts";

/** Which request of a session to rebuild. */
export type RequestOptions = {
  /**
   * The number of the answer, from 0; the newest by default. Without `loop`, a loop that began in place of a turn continues
   * its numbering.
   */
  readonly turn?: number;
  /** The loop's id; the newest loop by default. */
  readonly loop?: string;
};

/** The request for one answer, rebuilt from the record (PHI-07). Contains the names of keys, never their values. */
export type TurnRequest = Pick<
  AgentDefinition,
  "model" | "thinking" | "temperature" | "maxTokens" | "cache"
> & {
  readonly session: string;
  readonly loopId: string;
  readonly turn: number;
  readonly branch: string;
  /** The position of the answer. */
  readonly position: number;
  /** The system prompt as it was sent. */
  readonly systemPrompt: {
    /** The text that the vendor received. */
    readonly text: string;
    /** Where the text comes from. */
    readonly origin: BlockOrigin;
  };
  /** The messages in the order in which the vendor's protocol received them. */
  readonly messages: readonly SourcedMessage[];
  /** The tools of the loop's opening or newest definition update; absent in records that older releases wrote. */
  readonly tools?: readonly ToolDefinition[];
  /** The required output of the last answer. */
  readonly output?: AgentDefinition["output"];
  /** The tool that the model was forced to call, because its preceding answer was not the required output. */
  readonly forcedTool?: string;
  /** A hook has required an answer without calls. */
  readonly textOnly?: true;
  /** The application's functions that transformed these messages before they were sent, in order: CB-10. */
  readonly transforms: readonly string[];
  /** The limits of the loop's opening or newest definition update, without later raises. */
  readonly limits: Limits;
};

/** Reads the transcript only, and asks no server. */
export async function readTurnRequest(
  link: ClientLink,
  session: string,
  options: RequestOptions = {},
): Promise<TurnRequest> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const loops = await transcript?.readLoops(session);
    if (transcript === undefined || loops === undefined || loops.length === 0) {
      throw createUnknownSessionError(link, session);
    }
    return await rebuildRequest(transcript, session, loops, options);
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

async function rebuildRequest(
  transcript: Transcript,
  session: string,
  loops: readonly LoopRecord[],
  options: RequestOptions,
): Promise<TurnRequest> {
  const { loopId: wanted, turn: number } = await findRequestedLoop(transcript, session, loops, options);
  const at = loops.findIndex(({ loopId }) => loopId === wanted);
  const loop = loops[at];
  if (loop === undefined) {
    throw createTurnNotFoundError(
      session,
      `no loop ${options.loop}; it has ${loops.map(({ loopId }) => loopId).join(", ")}`,
    );
  }
  const context = await readTurnContext(transcript, session, loops.slice(0, at + 1), number);
  const definition = await transcript.readDefinition(context.definitionHash);
  if (definition === undefined)
    throw createTurnNotFoundError(session, `no definition ${context.definitionHash}`);
  const { terms, turn, branch, position } = context;
  const model = await findAnsweringModel(definition, context, session, transcript);
  const { thinking, temperature, maxTokens, cache, output } = definition;
  const { systemPrompt, tools, forcedTool } = buildPromptParts(definition, model, context);
  const translation = getTranslation(definition);
  return {
    session,
    loopId: loop.loopId,
    turn,
    branch,
    position,
    model,
    thinking,
    temperature,
    maxTokens,
    cache,
    systemPrompt: { text: systemPrompt, origin: { type: "system-prompt" } },
    messages: context.messages,
    ...(terms === undefined ? {} : { tools }),
    ...omitUndefined({ output, forcedTool }),
    ...(context.textOnly ? { textOnly: true as const } : {}),
    transforms: [
      ...definition.transformContext,
      ...(definition.convertToLlm === null ? [] : [definition.convertToLlm]),
      ...(translation === undefined ? [] : [translation]),
    ],
    limits: terms?.limits ?? definition.limits,
  };
}

async function findRequestedLoop(
  transcript: Transcript,
  session: string,
  loops: readonly LoopRecord[],
  { loop, turn }: RequestOptions,
): Promise<{ readonly loopId: string | undefined; readonly turn: number | undefined }> {
  const newest = findNewestLoop(loops);
  if (loop !== undefined || turn === undefined || newest === undefined) {
    return { loopId: loop ?? newest?.loopId, turn };
  }
  const requested = await findTurnOnLine({ transcript, session }, newest, turn);
  return { loopId: requested.record.loopId, turn: requested.turn };
}

/** Returns the agent's own model, unless a fallback is recorded as the author of the answer. */
async function findAnsweringModel(
  { model, fallbacks = [] }: AgentDefinition,
  { branch, position }: TurnContext,
  session: string,
  transcript: Transcript,
): Promise<AgentDefinition["model"]> {
  if (fallbacks.length === 0) return model;
  const [entry] = await transcript.readEntries(session, branch, position, position + 1);
  const author = entry?.message.role === "assistant" ? entry.message : undefined;
  const isBy = (one: AgentDefinition["model"]) =>
    one.id === author?.model && one.provider === author.provider;
  return isBy(model) ? model : (fallbacks.find(isBy) ?? model);
}

/** Returns the parts of the prompt that the output changes, if the record states the output mode. */
function buildPromptParts(definition: AgentDefinition, model: AgentDefinition["model"], tools: TurnContext) {
  const { output } = definition;
  const systemPrompt = buildSystemPrompt(definition);
  const { terms, isRepair, textOnly } = tools;
  const outputPrompt = { systemPrompt, tools: getOfferedTools(tools) };
  const fallback = definition.fallbacks?.indexOf(model) ?? -1;
  const outputMode = terms?.fallbackOutputs?.[fallback] ?? terms?.output;
  if (output === undefined || output.type === "text" || outputMode === undefined) {
    return { ...outputPrompt, forcedTool: undefined };
  }
  return {
    forcedTool: undefined,
    ...addOutputToRequest({ output, mode: outputMode }, outputPrompt, isRepair || textOnly),
  };
}

function createTurnNotFoundError(session: string, description: string): HoldfastError {
  return new HoldfastError("input-invalid", `Session ${session} has ${description}.`, { session });
}
