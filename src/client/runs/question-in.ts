import type { PersonQuestion } from "../../schema/person.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** What a tool asks, where this machine knows it. */
export async function questionIn(
  transcript: Pick<Transcript, "text">,
  ref: string,
): Promise<PersonQuestion | undefined> {
  const text = await transcript.text(ref);
  return text === undefined ? undefined : (JSON.parse(text) as PersonQuestion);
}
