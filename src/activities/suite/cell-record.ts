import type { AssistantMessage, Message } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { CellResult } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** What the session of a cell contains. */
export type CellRecord = {
  /** The text of the last answer; empty if there is none. */
  readonly answer: string;
  /** The messages that the cell itself has added: without those of a session that it was forked from. */
  readonly messages: readonly Message[];
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly paidAnswers: number;
  readonly storedAnswers: number;
};

/** The session of a cell, and the loop with which it has ended. */
export type CellSession = Pick<CellResult, "session" | "loopId" | "branch">;

/** Reads what a cell has done from its session: without what a user has added to it since. */
export async function readCellRecord(
  { session = "", loopId, branch }: CellSession,
  transcript: Pick<Transcript, "readSession" | "readLoops" | "readEntries">,
): Promise<CellRecord> {
  const record = await transcript.readSession(session);
  if (record === undefined) return buildCellRecord([]);
  const loops = await transcript.readLoops(session);
  const from = loops[0]?.from ?? 0;
  const last = loops.findIndex((loop) => loop.loopId === loopId);
  const ownBranch = branch ?? record.headBranch;
  const next = last < 0 ? undefined : loops.slice(last + 1).find((loop) => loop.branch === ownBranch);
  const to = next?.from ?? Number.MAX_SAFE_INTEGER;
  const entries = await transcript.readEntries(session, ownBranch, from, to, "reference");
  return buildCellRecord(entries.flatMap(({ message }) => (message.role === "extension" ? [] : [message])));
}

function buildCellRecord(messages: readonly Message[]): CellRecord {
  const answers = messages.filter((message): message is AssistantMessage => message.role === "assistant");
  const last = answers.findLast((message) => getMessageText(message) !== "");
  const storedAnswers = answers.filter(({ storedFrom }) => storedFrom !== undefined).length;
  return {
    answer: last === undefined ? "" : getMessageText(last),
    messages,
    calls: answers.flatMap(({ content }) =>
      content.flatMap((part) =>
        part.type === "toolCall" ? [{ name: part.name, arguments: part.arguments }] : [],
      ),
    ),
    paidAnswers: answers.length - storedAnswers,
    storedAnswers,
  };
}
