import { type SourcedMessage, traceMessages } from "../../conversation/provenance.ts";
import { rebuildView, selectEventsBefore } from "../../conversation/pruning/past-view.ts";
import { isInRepairRound } from "../../conversation/repair-round.ts";
import { offersReadFullTool } from "../../core/machine/tool-facts.ts";
import { READ_FULL_DEFINITION } from "../../core/view/read-full-definition.ts";
import { listForeignTexts, type ViewRanges } from "../../core/view/view-ranges.ts";
import { REVERT_TOOL } from "../../core/view/view-request.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { outputName } from "../../schema/output.ts";
import type { LoopTerms } from "../../store/transcript/loop.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { listPastAnswers, type PastAnswer } from "./list-past-answers.ts";
import {
  findEntryPositions,
  type HistoryReader,
  type LoopHistoryTrace,
  type LoopInHistory,
  readLoopHistory,
} from "./loop-history.ts";

/** The context of the request for one answer. */
export type TurnContext = PastAnswer & {
  readonly messages: readonly SourcedMessage[];
  readonly terms: LoopTerms | undefined;
  /** The hash of the definition in effect. */
  readonly definitionHash: string;
  /** Whether the preceding answer was not the required output. */
  readonly isRepair: boolean;
  /** A hook has required an answer without calls. */
  readonly textOnly: boolean;
  /** Whether the model was offered the tool that reads the omitted parts of messages. */
  readonly canReadFullResults: boolean;
};

/**
 * @param loops - The loops of the session, up to the one in question.
 * @param turn - The newest answer's turn by default.
 */
export async function readTurnContext(
  transcript: HistoryReader,
  session: string,
  loops: readonly LoopInHistory[],
  turn: number | undefined,
): Promise<TurnContext> {
  const loopId = loops.at(-1)?.loopId ?? "";
  const history = await readLoopHistory(transcript, session, loops);
  const read = (branch: string, from: number) =>
    transcript.readEntries(session, branch, from, Number.MAX_SAFE_INTEGER);
  const answers = await listPastAnswers(history.loop, loopId, read);
  // The last answer of the turn: a context that the vendor rejected is compacted and sent again.
  const answer = answers.findLast((one) => one.turn === (turn ?? answers.at(-1)?.turn));
  if (answer === undefined) throw createNoAnswerError(session, loopId, turn ?? 0, answers);
  const view = rebuildView(history.traces, history.branches, answer);
  if (view.type === "unrecorded") throw createUnrecordedTurnError(session, loopId, answer, view.position);
  const termsInForce = await getTermsAt(transcript, history, answer, loops.at(-1)?.definitionHash ?? "");
  const labels = (termsInForce.terms?.tools ?? []).some(({ name }) => name === REVERT_TOOL);
  const entries = await read(answer.branch, 0);
  const elsewhere = await readEntriesElsewhere(transcript, session, view.view);
  const isRepair = await isModelCalledAgain(transcript, session, { ...history, ...termsInForce }, answer);
  const messages = traceMessages(view.view, entries, { labels, readMessage: elsewhere });
  const { terms, definitionHash } = termsInForce;
  const readsFull = offersReadFullTool(view.view.ranges);
  const textOnly = await isTextOnlyTurn(transcript, loopId, answer.turn);
  return { ...answer, terms, definitionHash, messages, isRepair, textOnly, canReadFullResults: readsFull };
}

async function isTextOnlyTurn(
  transcript: Pick<HistoryReader, "readEvents">,
  loopId: string,
  turn: number,
): Promise<boolean> {
  return (await transcript.readEvents(loopId, 0)).some(
    ({ body }) => body.type === "TurnStart" && body.turn === turn && body.textOnly === true,
  );
}

/** Returns the tools that the model was offered: the pinned ones, and the one that its view requires. */
export function getOfferedTools({
  terms,
  canReadFullResults,
}: Pick<TurnContext, "terms" | "canReadFullResults">) {
  const pinned = terms?.tools ?? [];
  const isPinned = pinned.some(({ name }) => name === READ_FULL_DEFINITION.name);
  return canReadFullResults && !isPinned ? [...pinned, READ_FULL_DEFINITION] : pinned;
}

/** Returns the terms of the newest definition update before the answer, or those that the loop was opened with. */
async function getTermsAt(
  transcript: HistoryReader,
  { loop, terms, output }: LoopHistoryTrace,
  answer: PastAnswer,
  definitionHash: string,
): Promise<Pick<LoopHistoryTrace, "terms" | "output"> & Pick<TurnContext, "definitionHash">> {
  const update = selectEventsBefore(loop, answer).findLast(
    (body) => body.type === "DefinitionChanged" && body.applied,
  );
  if (update?.type !== "DefinitionChanged") return { terms, output, definitionHash };
  const [text, definition] = await Promise.all([
    update.terms === undefined ? undefined : transcript.readText(update.terms),
    transcript.readDefinition(update.to),
  ]);
  return {
    terms: text === undefined ? undefined : (JSON.parse(text) as LoopTerms),
    output: definition?.output,
    definitionHash: update.to,
  };
}

/** Reads texts of the view that are on branches which the model has left. */
async function readEntriesElsewhere(
  transcript: HistoryReader,
  session: string,
  view: ViewRanges,
): Promise<(branch: string, position: number) => AgentMessage | undefined> {
  const found = await Promise.all(
    listForeignTexts(view).map(async ({ branch, position }) => {
      const [entry] = await transcript.readEntries(session, branch, position, position + 1);
      return { branch, position, message: entry?.message };
    }),
  );
  return (branch, position) =>
    found.find((one) => one.branch === branch && one.position === position)?.message;
}

async function isModelCalledAgain(
  transcript: HistoryReader,
  session: string,
  { loop, output, terms }: LoopHistoryTrace,
  answer: PastAnswer,
): Promise<boolean> {
  const outputModes = [terms?.output, ...(terms?.fallbackOutputs ?? [])];
  if (output === undefined || output.type === "text" || !outputModes.includes("final-tool")) return false;
  const before = findEntryPositions(selectEventsBefore(loop, answer), loop.branches, "MessageStart");
  const entriesBefore = await Promise.all(
    before.map(({ branch, position }) => transcript.readEntries(session, branch, position, position + 1)),
  );
  return isInRepairRound(entriesBefore.flat(), outputName(output));
}

function createNoAnswerError(
  session: string,
  loopId: string,
  turn: number,
  answers: readonly PastAnswer[],
): HoldfastError {
  const turns = new Set(answers.map((answer) => answer.turn)).size;
  return new HoldfastError(
    "input-invalid",
    `Session ${session} has no answer ${turn} in ${loopId}: ${turns} of its turns have one, from 0.`,
    { session },
  );
}

function createUnrecordedTurnError(
  session: string,
  loopId: string,
  { turn }: PastAnswer,
  position: number,
): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `The context of turn ${turn} of ${loopId} cannot be rebuilt: the compaction at position ${position} was ` +
      "recorded without the ranges that it removed.",
    { session },
  );
}
