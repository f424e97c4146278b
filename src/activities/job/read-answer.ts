import { INLINE_BYTES } from "../../core/machine/append-message.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { ReadAnswerInput } from "../activity-types.ts";
import { readAnswerText } from "../close-loop/task-text.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";

/** Reads the text of an answer, at most 32 KiB, for the caller; `null` where there is none. */
export async function readAnswer(
  input: ReadAnswerInput,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<string | null> {
  try {
    const text = await readAnswerText(input, transcript);
    return text === undefined ? null : truncateForPreview(text, INLINE_BYTES - 3);
  } catch (error) {
    throw toFailure(error);
  }
}
