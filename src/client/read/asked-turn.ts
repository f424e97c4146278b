import { outputName } from "../../conversation/final-tool.ts";
import { type SourcedMessage, sourced } from "../../conversation/provenance.ts";
import { eventsBefore, pastView } from "../../conversation/pruning/past-view.ts";
import { isRepairing } from "../../conversation/repairing.ts";
import { offersReader } from "../../core/machine/tool-facts.ts";
import { READ_FULL_DEFINITION } from "../../core/view/read-full-definition.ts";
import { textsElsewhere, type ViewRanges } from "../../core/view/view-ranges.ts";
import { REVERT_TOOL } from "../../core/view/view-request.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { LoopTerms } from "../../store/transcript/loop.ts";
import { HoldfastError } from "../error.ts";
import { answersOf, type PastAnswer } from "./past-answers.ts";
import { type Past, type PastLoop, type PastTranscript, pastOf, placesOf } from "./past-loops.ts";

/** What a model was asked for one answer. */
export type AskedTurn = PastAnswer & {
  readonly messages: readonly SourcedMessage[];
  readonly terms: LoopTerms | undefined;
  /** Of the definition that it was asked by. */
  readonly definitionHash: string;
  /** The answer before it was not the output that was asked for. */
  readonly isRepair: boolean;
  /** It was offered the tool that reads what its view leaves out of messages. */
  readonly readsFull: boolean;
};

/**
 * @param loops - Of the session, up to the one that is asked about.
 * @param turn - The newest answer's unless said.
 */
export async function askedOf(
  transcript: PastTranscript,
  session: string,
  loops: readonly PastLoop[],
  turn: number | undefined,
): Promise<AskedTurn> {
  const loopId = loops.at(-1)?.loopId ?? "";
  const past = await pastOf(transcript, session, loops);
  const read = (branch: string, from: number) =>
    transcript.entries(session, branch, from, Number.MAX_SAFE_INTEGER);
  const answers = await answersOf(past.loop, loopId, read);
  // The last one of a turn: a context that was refused is made smaller and sent once more.
  const answer = answers.findLast((one) => one.turn === (turn ?? answers.at(-1)?.turn));
  if (answer === undefined) throw noAnswer(session, loopId, turn ?? 0, answers);
  const seen = pastView(past.traces, past.branches, answer);
  if (seen.type === "unrecorded") throw unrecorded(session, loopId, answer, seen.position);
  const inForce = await inForceAt(transcript, past, answer, loops.at(-1)?.definitionHash ?? "");
  const labels = (inForce.terms?.tools ?? []).some(({ name }) => name === REVERT_TOOL);
  const entries = await read(answer.branch, 0);
  const elsewhere = await elsewhereOf(transcript, session, seen.view);
  const isRepair = await isAskedAgain(transcript, session, { ...past, ...inForce }, answer);
  const messages = sourced(seen.view, entries, { labels, elsewhere });
  const { terms, definitionHash } = inForce;
  const readsFull = offersReader(seen.view.ranges);
  return { ...answer, terms, definitionHash, messages, isRepair, readsFull };
}

/** The tools that the model was offered: those that it was pinned to, and the one that its view calls for. */
export function toolsTold({ terms, readsFull }: Pick<AskedTurn, "terms" | "readsFull">) {
  const pinned = terms?.tools ?? [];
  const isPinned = pinned.some(({ name }) => name === READ_FULL_DEFINITION.name);
  return readsFull && !isPinned ? [...pinned, READ_FULL_DEFINITION] : pinned;
}

/** What the newest move before the answer has pinned; else what the loop was opened with. */
async function inForceAt(
  transcript: PastTranscript,
  { loop, terms, output }: Past,
  answer: PastAnswer,
  definitionHash: string,
): Promise<Pick<Past, "terms" | "output"> & Pick<AskedTurn, "definitionHash">> {
  const move = eventsBefore(loop, answer).findLast(
    (body) => body.type === "DefinitionChanged" && body.applied,
  );
  if (move?.type !== "DefinitionChanged") return { terms, output, definitionHash };
  const [text, definition] = await Promise.all([
    move.terms === undefined ? undefined : transcript.text(move.terms),
    transcript.definition(move.to),
  ]);
  return {
    terms: text === undefined ? undefined : (JSON.parse(text) as LoopTerms),
    output: definition?.output,
    definitionHash: move.to,
  };
}

/** Texts of the view that lie on branches which the model has left. */
async function elsewhereOf(
  transcript: PastTranscript,
  session: string,
  view: ViewRanges,
): Promise<(branch: string, position: number) => AgentMessage | undefined> {
  const found = await Promise.all(
    textsElsewhere(view).map(async ({ branch, position }) => {
      const [entry] = await transcript.entries(session, branch, position, position + 1);
      return { branch, position, message: entry?.message };
    }),
  );
  return (branch, position) =>
    found.find((one) => one.branch === branch && one.position === position)?.message;
}

async function isAskedAgain(
  transcript: PastTranscript,
  session: string,
  { loop, output, terms }: Past,
  answer: PastAnswer,
): Promise<boolean> {
  const roads = [terms?.output, ...(terms?.fallbackOutputs ?? [])];
  if (output === undefined || output.type === "text" || !roads.includes("final-tool")) return false;
  const before = placesOf(eventsBefore(loop, answer), loop.branches, "MessageStart");
  const told = await Promise.all(
    before.map(({ branch, position }) => transcript.entries(session, branch, position, position + 1)),
  );
  return isRepairing(told.flat(), outputName(output));
}

function noAnswer(
  session: string,
  loopId: string,
  turn: number,
  answers: readonly PastAnswer[],
): HoldfastError {
  const turns = new Set(answers.map((one) => one.turn)).size;
  return new HoldfastError(
    "input-invalid",
    `Session ${session} has no answer ${turn} in ${loopId}: ${turns} of its turns have one, from 0.`,
    { session },
  );
}

function unrecorded(session: string, loopId: string, { turn }: PastAnswer, position: number): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `What the model saw in turn ${turn} of ${loopId} cannot be made again: the compaction at position ${position} was ` +
      "recorded without the ranges that it has left.",
    { session },
  );
}
