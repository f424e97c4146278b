import { ProviderError } from "./provider-error.ts";

/**
 * The most characters of one question. No vendor takes as many, and a question of hundreds of millions would hold up its
 * worker for seconds.
 */
const MAX_REQUEST_CHARS = 64 * 1024 * 1024;

/** Characters of all texts in a value, without writing it down. */
export function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let sum = 0;
  for (const part of Object.values(value)) sum += countCharacters(part);
  return sum;
}

/** @throws ProviderError `overflow`, before anything is written down or sent. */
export function assertRequestSize(messages: readonly unknown[], maxChars = MAX_REQUEST_CHARS): void {
  const characters = messages.reduce<number>((sum, message) => sum + countCharacters(message), 0);
  if (characters <= maxChars) return;
  const formatMillions = (count: number) => `${Math.ceil(count / 1024 / 1024)} million characters`;
  throw new ProviderError(
    "overflow",
    `not asked: the question has ${formatMillions(characters)}, and none of more than ${formatMillions(maxChars)} is sent`,
  );
}
