import { type LoopTrace, pastView } from "../core/past-view.ts";
import { type BlockOrigin, type SourcedMessage, sourced } from "../core/provenance.ts";
import type { AgentDefinition, Limits } from "../schema/definition.ts";
import type { Entry } from "../schema/record.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { LoopRecord, LoopTerms } from "../transcript/loop.ts";
import type { StepRecord } from "../transcript/step.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { HoldfastError } from "./error.ts";
import { translated, unknownSession } from "./failures.ts";
import type { Link } from "./link.ts";

export type RequestOptions = {
  /** Which answer of the loop was asked for, from 0; the newest unless said. */
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
  /** As the loop was opened with; absent in the record of loops that began before this was kept. */
  readonly tools?: readonly ToolDefinition[];
  /** What the last answer was to be. */
  readonly output?: AgentDefinition["output"];
  /** Functions of the application that have shaped these messages before they were sent, in order: CB-10. */
  readonly shapedBy: readonly string[];
  /** As the loop was opened with: what has raised them since is not in it. */
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
  const at =
    options.loop === undefined ? loops.length - 1 : loops.findIndex(({ loopId }) => loopId === options.loop);
  const loop = loops[at];
  if (loop === undefined) {
    throw notThere(
      session,
      `no loop ${options.loop}; it has ${loops.map(({ loopId }) => loopId).join(", ")}`,
    );
  }
  const entries = await transcript.entries(session, loop.branch, 0, Number.MAX_SAFE_INTEGER);
  const answer = answerOf(entries, loop, session, options.turn);
  const steps = (await transcript.steps(session)).filter(({ kind }) => kind === "open-loop");
  const past = pastView(await traced(transcript, loops.slice(0, at + 1), steps), entries, answer.position);
  if (past.type === "changed-by-model") {
    throw new HoldfastError(
      "input-invalid",
      `What the model saw in turn ${answer.turn} of ${loop.loopId} is not made again: it has pruned its context, or gone back, in this session.`,
      { session },
    );
  }
  if (past.type === "unrecorded") {
    throw new HoldfastError(
      "input-invalid",
      `What the model saw in turn ${answer.turn} of ${loop.loopId} cannot be made again: the compaction at position ` +
        `${past.position} was recorded without the ranges that it has left.`,
      { session },
    );
  }
  const definition = await transcript.definition(loop.definitionHash);
  if (definition === undefined) throw notThere(session, `no definition ${loop.definitionHash}`);
  const terms = await termsOf(transcript, steps[at]);
  const { model, thinking, temperature, maxTokens, cache, systemPrompt } = definition;
  return {
    session,
    loopId: loop.loopId,
    turn: answer.turn,
    branch: loop.branch,
    position: answer.position,
    model,
    thinking,
    temperature,
    maxTokens,
    cache,
    systemPrompt: { text: systemPrompt, origin: { type: "system-prompt" } },
    messages: sourced(past.view, entries),
    ...(terms === undefined ? {} : { tools: terms.tools }),
    ...(definition.output === undefined ? {} : { output: definition.output }),
    shapedBy: [
      ...definition.transformContext,
      ...(definition.convertToLlm === null ? [] : [definition.convertToLlm]),
    ],
    limits: terms?.limits ?? definition.limits,
  };
}

/** The last one of a turn: a context that was refused is made smaller and sent once more. */
function answerOf(
  entries: readonly Entry[],
  { loopId }: LoopRecord,
  session: string,
  asked: number | undefined,
): { readonly position: number; readonly turn: number } {
  const answers = entries.flatMap(({ position, message }) =>
    message.role === "assistant" && message.turnId?.loopId === loopId
      ? [{ position, turn: message.turnId.turnIndex }]
      : [],
  );
  const turn = asked ?? answers.at(-1)?.turn;
  const answer = answers.findLast((one) => one.turn === turn);
  if (answer !== undefined) return answer;
  const turns = new Set(answers.map((one) => one.turn)).size;
  throw notThere(session, `no answer ${turn ?? 0} in ${loopId}: ${turns} of its turns have one, from 0`);
}

/** Each loop was opened by one step, and steps and loops are listed in the order in which they were written. */
async function traced(
  transcript: Transcript,
  loops: readonly LoopRecord[],
  steps: readonly StepRecord[],
): Promise<readonly LoopTrace[]> {
  return Promise.all(
    loops.map(async ({ loopId, branch, from }, index) => ({
      branch,
      from,
      events: (await transcript.events(loopId, 0)).map(({ body }) => body),
      isFirstOfRun: (steps[index]?.number ?? 0) === 0,
    })),
  );
}

async function termsOf(transcript: Transcript, step: StepRecord | undefined): Promise<LoopTerms | undefined> {
  const hash = step === undefined ? undefined : await transcript.note(step);
  const text = hash === undefined ? undefined : await transcript.text(hash);
  return text === undefined ? undefined : (JSON.parse(text) as LoopTerms);
}

function notThere(session: string, what: string): HoldfastError {
  return new HoldfastError("input-invalid", `Session ${session} has ${what}.`, { session });
}
