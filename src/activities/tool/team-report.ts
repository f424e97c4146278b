import type { Member } from "../../core/job/team.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { readAnswerText } from "../close-loop/task-text.ts";

/** The most characters of all agents' texts in one result; each agent has an equal part. */
const MAX_CHARS = 32_000;
const MIN_CHARS = 500;

/** Formats the states and the texts of the agents for their lead. The texts are read from the agents' own records. */
export async function formatTeam(
  members: readonly Member[],
  transcript: Pick<Transcript, "readEntries">,
): Promise<string> {
  if (members.length === 0) return "You have not started any agent yet.";
  const most = Math.max(MIN_CHARS, Math.floor(MAX_CHARS / members.length));
  const shown = await Promise.all(members.map((member) => formatMember(member, most, transcript)));
  return shown.join("\n\n");
}

async function formatMember(
  { id, status, reason, task, session, lastAnswer }: Member,
  most: number,
  transcript: Pick<Transcript, "readEntries">,
): Promise<string> {
  const head = `[${id}: ${status}${reason === undefined ? "" : ` (${reason})`}] ${task}`;
  if (status === "running") return head;
  const text =
    lastAnswer === undefined ? undefined : await readAnswerText({ session, ...lastAnswer }, transcript);
  if (text === undefined || text === "") return `${head}\n(it has no answer)`;
  return `${head}\n${text.length <= most ? text : truncateText(text, most, id)}`;
}

function truncateText(text: string, most: number, id: string): string {
  return `${text.slice(0, most)}\n[${text.length - most} more characters: request ${id} alone to read them]`;
}
