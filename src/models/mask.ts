import { REDACTED } from "../platform/text/redact.ts";
import { SecretMatcher } from "../platform/text/secret-matcher.ts";

/** Blanks secrets in a text that may be shown or stored. */
export type Mask = (text: string) => string;

/** Amazon's credentials as one key, `ACCESS:SECRET[:SESSION]`: an error may show one part alone. */
const AWS_KEY = /^\w{16,128}:([^\s:]+)(?::([^\s:]+))?$/;

/** Lists that were asked for last: a worker asks for the same few again and again. */
const MAX_KEPT = 16;
const kept = new Map<string, SecretMatcher>();

/** @param secrets - Whole values; the words of each ("Bearer abc…") are found alone too, in all forms. */
export function matcherFor(secrets: readonly (string | undefined)[]): SecretMatcher {
  const values = [...new Set(secrets)].filter((secret) => secret !== undefined);
  const key = JSON.stringify(values);
  const known = kept.get(key);
  if (known !== undefined) {
    // Last used, last to be dropped.
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const matcher = new SecretMatcher(wordsOf(values));
  kept.set(key, matcher);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return matcher;
}

function wordsOf(values: readonly string[]): readonly string[] {
  const words = new Set<string>();
  for (const value of values) {
    const whole = value.trim();
    const [, ...parts] = AWS_KEY.exec(whole) ?? [];
    for (const word of [whole, ...whole.split(/\s+/), ...parts]) words.add(word ?? "");
  }
  // What every such header and key block has.
  for (const word of ["Bearer", "-----BEGIN", "-----END", "PRIVATE", "KEY-----"]) words.delete(word);
  return [...words];
}

/** @param secrets - Whole values; the words of each are blanked alone too. */
export function maskFor(secrets: readonly (string | undefined)[]): Mask {
  const matcher = matcherFor(secrets);
  return (text) => matcher.mask(text, REDACTED);
}
