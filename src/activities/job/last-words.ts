import { INLINE_BYTES } from "../../core/machine/append.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { LastWordsInput } from "../activities.ts";
import { wordsAt } from "../close-loop/task-words.ts";
import type { Dependencies } from "../dependencies.ts";
import { asFailure } from "../step/failure.ts";

/** What an answer says, at most 32 KiB, for whoever has asked; `null` where there is none. */
export async function lastWords(
  input: LastWordsInput,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<string | null> {
  try {
    const words = await wordsAt(input, transcript);
    return words === undefined ? null : truncateForPreview(words, INLINE_BYTES - 3);
  } catch (error) {
    throw asFailure(error);
  }
}
