import { INLINE_BYTES } from "../core/append.ts";
import { truncateForPreview } from "../core/preview.ts";
import type { LastWordsInput } from "./activities.ts";
import type { Dependencies } from "./dependencies.ts";
import { asFailure } from "./failure.ts";
import { wordsAt } from "./task-words.ts";

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
