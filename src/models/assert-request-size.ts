import { ProviderError } from "./provider-error.ts";

/**
 * The most characters of one request. No vendor accepts as many, and a request of hundreds of millions would block its
 * worker for seconds.
 */
const MAX_REQUEST_CHARS = 64 * 1024 * 1024;

/** Counts the characters of all texts in a value, without serialising it. */
export function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let sum = 0;
  for (const part of Object.values(value)) sum += countCharacters(part);
  return sum;
}

/** @throws ProviderError `overflow`, before anything is serialised or sent. */
export function assertRequestSize(messages: readonly unknown[], maxChars = MAX_REQUEST_CHARS): void {
  const characters = messages.reduce<number>((sum, message) => sum + countCharacters(message), 0);
  if (characters <= maxChars) return;
  const formatMillions = (count: number) => `${Math.ceil(count / 1024 / 1024)} million characters`;
  throw new ProviderError(
    "overflow",
    `the request was not sent: it has ${formatMillions(characters)}, and the limit is ${formatMillions(maxChars)}`,
  );
}
