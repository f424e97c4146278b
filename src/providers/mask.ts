import { REDACTED } from "../core/redact.ts";
import { secretForms } from "../core/secret-forms.ts";

/** Blanks secrets in a text that may be shown or stored. */
export type Mask = (text: string) => string;

/** Amazon's credentials as one key, `ACCESS:SECRET[:SESSION]`: an error may show one part alone. */
const AWS_KEY = /^\w{16,128}:([^\s:]+)(?::([^\s:]+))?$/;

/** Whole values, and the words of each ("Bearer abc…"), in all forms; longest first, so that a secret inside another leaves no rest. */
export function secretWords(secrets: readonly (string | undefined)[]): readonly string[] {
  const words = new Set<string>();
  for (const secret of secrets) {
    if (secret === undefined) continue;
    const whole = secret.trim();
    const [, ...parts] = AWS_KEY.exec(whole) ?? [];
    for (const word of [whole, ...whole.split(/\s+/), ...parts]) {
      for (const form of secretForms(word ?? "")) words.add(form);
    }
  }
  words.delete("Bearer");
  return [...words].sort((a, b) => b.length - a.length);
}

/** @param secrets - Whole values; the words of each are blanked alone too. */
export function maskFor(secrets: readonly (string | undefined)[]): Mask {
  const ordered = secretWords(secrets);
  return (text) => ordered.reduce((masked, word) => masked.replaceAll(word, REDACTED), text);
}
