import type { Member } from "../../core/job/team.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { wordsAt } from "../close-loop/task-words.ts";

/** Of what all of them have said, in one result; each has an equal part of it. */
const MAX_CHARS = 32_000;
const LEAST_CHARS = 500;

/** Where agents stand and what they have said, for their lead. The words are read from their own records. */
export async function teamWords(
  members: readonly Member[],
  transcript: Pick<Transcript, "entries">,
): Promise<string> {
  if (members.length === 0) return "You have begun no agent yet.";
  const most = Math.max(LEAST_CHARS, Math.floor(MAX_CHARS / members.length));
  const shown = await Promise.all(members.map((member) => wordsOf(member, most, transcript)));
  return shown.join("\n\n");
}

async function wordsOf(
  { id, status, reason, task, session, words }: Member,
  most: number,
  transcript: Pick<Transcript, "entries">,
): Promise<string> {
  const head = `[${id}: ${status}${reason === undefined ? "" : ` (${reason})`}] ${task}`;
  if (status === "running") return head;
  const said = words === undefined ? undefined : await wordsAt({ session, ...words }, transcript);
  if (said === undefined || said === "") return `${head}\n(it has said nothing)`;
  return `${head}\n${said.length <= most ? said : cut(said, most, id)}`;
}

function cut(said: string, most: number, id: string): string {
  return `${said.slice(0, most)}\n[${said.length - most} characters more: ask for ${id} alone]`;
}
