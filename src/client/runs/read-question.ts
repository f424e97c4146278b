import type { UserQuestion } from "../../schema/user-question.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** Reads a tool's question, if this machine has it. */
export async function readQuestion(
  transcript: Pick<Transcript, "readText">,
  ref: string,
): Promise<UserQuestion | undefined> {
  const text = await transcript.readText(ref);
  return text === undefined ? undefined : (JSON.parse(text) as UserQuestion);
}
