import { askedFor } from "../../conversation/final-tool.ts";
import type { BlockOrigin, SourcedMessage } from "../../conversation/provenance.ts";
import { systemPromptOf } from "../../conversation/system-prompt.ts";
import type { AgentDefinition, Limits } from "../../schema/definition.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated, unknownSession } from "../failures.ts";
import { newestLoop } from "../runs/newest-loop.ts";
import { type AskedTurn, askedOf, toolsTold } from "./asked-turn.ts";
import { turnOnLine } from "./line-turns.ts";

export type RequestOptions = {
  /**
   * Which answer was asked for, from 0; the newest by default. Without `loop`, a loop that began in place of a turn counts
   * on from it.
   */
  readonly turn?: number;
  /** The loop's id; the newest unless said. */
  readonly loop?: string;
};

/** What the model was sent for one answer, made again from the record (PHI-07). Keys stay named, never resolved. */
export type TurnRequest = Pick<
  AgentDefinition,
  "model" | "thinking" | "temperature" | "maxTokens" | "cache"
> & {
  readonly session: string;
  readonly loopId: string;
  readonly turn: number;
  readonly branch: string;
  /** Where the answer stands. */
  readonly position: number;
  readonly systemPrompt: { readonly text: string; readonly origin: BlockOrigin };
  /** In order, as they were handed to the vendor's protocol. */
  readonly messages: readonly SourcedMessage[];
  /** As the loop was opened with, or moved to; absent in the record of loops that began before this was kept. */
  readonly tools?: readonly ToolDefinition[];
  /** What the last answer was to be. */
  readonly output?: AgentDefinition["output"];
  /** The tool that had to be called, because the answer before was not that. */
  readonly mustCall?: string;
  /** Functions of the application that have shaped these messages before they were sent, in order: CB-10. */
  readonly shapedBy: readonly string[];
  /** As the loop was opened with, or moved to: what has raised them since is not in it. */
  readonly limits: Limits;
};

/** Reads the transcript and asks nobody. */
export async function turnRequest(
  link: Link,
  session: string,
  options: RequestOptions = {},
): Promise<TurnRequest> {
  try {
    const transcript = await link.storage.existing();
    const loops = await transcript?.loops(session);
    if (transcript === undefined || loops === undefined || loops.length === 0) {
      throw unknownSession(link, session);
    }
    return await remade(transcript, session, loops, options);
  } catch (error) {
    throw translated(error, link, session);
  }
}

async function remade(
  transcript: Transcript,
  session: string,
  loops: readonly LoopRecord[],
  options: RequestOptions,
): Promise<TurnRequest> {
  const { loopId: wanted, turn: number } = await namedBy(transcript, session, loops, options);
  const at = loops.findIndex(({ loopId }) => loopId === wanted);
  const loop = loops[at];
  if (loop === undefined) {
    throw notThere(
      session,
      `no loop ${options.loop}; it has ${loops.map(({ loopId }) => loopId).join(", ")}`,
    );
  }
  const asked = await askedOf(transcript, session, loops.slice(0, at + 1), number);
  const definition = await transcript.definition(asked.definitionHash);
  if (definition === undefined) throw notThere(session, `no definition ${asked.definitionHash}`);
  const { terms, turn, branch, position } = asked;
  const model = await modelThatAnswered(definition, asked, session, transcript);
  const { thinking, temperature, maxTokens, cache, output } = definition;
  const { systemPrompt, tools, mustCall } = toldOf(definition, model, asked);
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
    messages: asked.messages,
    ...(terms === undefined ? {} : { tools }),
    ...(output === undefined ? {} : { output }),
    ...(mustCall === undefined ? {} : { mustCall }),
    shapedBy: [
      ...definition.transformContext,
      ...(definition.convertToLlm === null ? [] : [definition.convertToLlm]),
    ],
    limits: terms?.limits ?? definition.limits,
  };
}

async function namedBy(
  transcript: Transcript,
  session: string,
  loops: readonly LoopRecord[],
  { loop, turn }: RequestOptions,
): Promise<{ readonly loopId: string | undefined; readonly turn: number | undefined }> {
  const newest = newestLoop(loops);
  if (loop !== undefined || turn === undefined || newest === undefined) {
    return { loopId: loop ?? newest?.loopId, turn };
  }
  const named = await turnOnLine({ transcript, session }, newest, turn);
  return { loopId: named.record.loopId, turn: named.turn };
}

/** The agent's own, unless a fallback stands as the author of the answer. */
async function modelThatAnswered(
  { model, fallbacks = [] }: AgentDefinition,
  { branch, position }: AskedTurn,
  session: string,
  transcript: Transcript,
): Promise<AgentDefinition["model"]> {
  if (fallbacks.length === 0) return model;
  const [entry] = await transcript.entries(session, branch, position, position + 1);
  const said = entry?.message.role === "assistant" ? entry.message : undefined;
  const isBy = (one: AgentDefinition["model"]) => one.id === said?.model && one.provider === said.provider;
  return isBy(model) ? model : (fallbacks.find(isBy) ?? model);
}

/** What an output changes of it, where the record says how it is asked for. */
function toldOf(definition: AgentDefinition, model: AgentDefinition["model"], told: AskedTurn) {
  const { output } = definition;
  const systemPrompt = systemPromptOf(definition);
  const { terms, isRepair } = told;
  const asked = { systemPrompt, tools: toolsTold(told) };
  const fallback = definition.fallbacks?.indexOf(model) ?? -1;
  const road = terms?.fallbackOutputs?.[fallback] ?? terms?.output;
  if (output === undefined || output.type === "text" || road === undefined) {
    return { ...asked, mustCall: undefined };
  }
  return { mustCall: undefined, ...askedFor({ output, road }, asked, isRepair) };
}

function notThere(session: string, what: string): HoldfastError {
  return new HoldfastError("input-invalid", `Session ${session} has ${what}.`, { session });
}
