import { REDACTED } from "../core/redact.ts";

/** Blanks secrets in a text that may be shown or stored. */
export type Mask = (text: string) => string;

/** Shorter ones would blank ordinary words. */
const MIN_SECRET_LENGTH = 6;

/** @param secrets - Whole values; the words of each ("Bearer abc…") are blanked alone too. */
export function maskFor(secrets: readonly (string | undefined)[]): Mask {
  const words = new Set<string>();
  for (const secret of secrets) {
    if (secret === undefined) continue;
    for (const word of [secret.trim(), ...secret.trim().split(/\s+/)]) {
      if (word.length >= MIN_SECRET_LENGTH) words.add(word);
    }
  }
  words.delete("Bearer");
  // Longest first, so that a secret inside another leaves no rest.
  const ordered = [...words].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, word) => masked.replaceAll(word, REDACTED), text);
}
