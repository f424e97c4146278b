import { ProviderError } from "./provider-error.ts";

/**
 * The most characters of one question. No vendor takes as many, and a question of hundreds of millions would hold up its
 * worker for seconds.
 */
const MAX_QUESTION_CHARS = 64 * 1024 * 1024;

/** Characters of all texts in a value, without writing it down. */
export function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let sum = 0;
  for (const part of Object.values(value)) sum += charactersIn(part);
  return sum;
}

/** @throws ProviderError `overflow`, before anything is written down or sent. */
export function mustBeSendable(messages: readonly unknown[], maxChars = MAX_QUESTION_CHARS): void {
  const characters = messages.reduce<number>((sum, message) => sum + charactersIn(message), 0);
  if (characters <= maxChars) return;
  const mega = (count: number) => `${Math.ceil(count / 1024 / 1024)} million characters`;
  throw new ProviderError(
    "overflow",
    `not asked: the question has ${mega(characters)}, and none of more than ${mega(maxChars)} is sent`,
  );
}
