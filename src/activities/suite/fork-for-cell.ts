import type { SuiteCase } from "../../schema/suite.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { DefinitionError } from "../step/failure.ts";

type ForkingTranscript = Pick<Transcript, "readSession" | "readEntries" | "fork">;

/** Creates the session of a cell that begins with a part of a recorded one. A repetition changes nothing. */
export async function forkForCell(
  { id, fork, messages }: SuiteCase,
  into: string,
  transcript: ForkingTranscript,
): Promise<void> {
  if (fork === undefined || (await transcript.readSession(into)) !== undefined) return;
  const record = await transcript.readSession(fork.session);
  if (record === undefined)
    throw new DefinitionError(
      `Case ${id} begins with session ${fork.session}, which the store does not have`,
    );
  const branch = record.headBranch;
  const entries = await transcript.readEntries(fork.session, branch, 0, Number.MAX_SAFE_INTEGER);
  const roles = entries.map(({ message }) => message.role);
  const position = findForkPosition(roles, fork.turn, messages.length > 0);
  if (position === undefined)
    throw new DefinitionError(
      `Case ${id} begins at turn ${fork.turn} of session ${fork.session}, which has ${countAnswers(roles)} answers`,
    );
  const at = { branch, position: (entries[0]?.position ?? 0) + position };
  const forked = await transcript.fork({ session: fork.session, atMs: Date.now(), at, into });
  if (forked.type === "forked" || forked.type === "taken") return;
  throw new DefinitionError(`Case ${id} cannot begin at entry ${at.position} of session ${fork.session}`);
}

/**
 * Finds where a cell begins. With messages of its own it begins after so many answers and their results. Without, it begins
 * before the next answer, which it gives in place of the recorded one.
 */
export function findForkPosition(
  roles: readonly string[],
  turn: number | undefined,
  hasMessages: boolean,
): number | undefined {
  const answers = roles.flatMap((role, at) => (role === "assistant" ? [at] : []));
  if (turn === undefined) {
    if (hasMessages || answers.length === 0) return roles.length;
    return roles.at(-1) === "assistant" ? answers.at(-1) : roles.length;
  }
  if (turn > answers.length) return undefined;
  if (!hasMessages) return answers[turn] ?? roles.length;
  const from = turn === 0 ? 0 : (answers[turn - 1] ?? 0) + 1;
  const rest = roles.slice(from).findIndex((role) => role !== "toolResult");
  return rest < 0 ? roles.length : from + rest;
}

function countAnswers(roles: readonly string[]): number {
  return roles.filter((role) => role === "assistant").length;
}
