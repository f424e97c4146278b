import { REDACTED } from "../platform/text/redact.ts";
import { SecretMatcher } from "../platform/text/secret-matcher.ts";

/** Masks secrets in a text that may be displayed or stored. */
export type Mask = (text: string) => string;

/** Amazon's credentials as one key, `ACCESS:SECRET[:SESSION]`: an error may contain one part alone. */
const AWS_KEY = /^\w{16,128}:([^\s:]+)(?::([^\s:]+))?$/;

/** The cache of the most recent lists: a worker requests the same few repeatedly. */
const MAX_CACHED_MATCHERS = 16;
const matchers = new Map<string, SecretMatcher>();

/** @param secrets - Whole values. The words of each ("Bearer abc…") are also found alone, in all forms. */
export function getMatcher(secrets: readonly (string | undefined)[]): SecretMatcher {
  const values = [...new Set(secrets)].filter((secret) => secret !== undefined);
  const key = JSON.stringify(values);
  const known = matchers.get(key);
  if (known !== undefined) {
    // The least recently used entry is evicted first.
    matchers.delete(key);
    matchers.set(key, known);
    return known;
  }
  const matcher = new SecretMatcher(expandSecrets(values));
  matchers.set(key, matcher);
  const [oldest] = matchers.keys();
  if (matchers.size > MAX_CACHED_MATCHERS && oldest !== undefined) matchers.delete(oldest);
  return matcher;
}

function expandSecrets(values: readonly string[]): readonly string[] {
  const secrets = new Set<string>();
  for (const value of values) {
    const whole = value.trim();
    const [, ...parts] = AWS_KEY.exec(whole) ?? [];
    for (const secret of [whole, ...whole.split(/\s+/), ...parts]) secrets.add(secret ?? "");
  }
  // Words that every such header and key block contains.
  for (const secret of ["Bearer", "-----BEGIN", "-----END", "PRIVATE", "KEY-----"]) secrets.delete(secret);
  return [...secrets];
}

/** @param secrets - Whole values. The words of each are also masked alone. */
export function createMask(secrets: readonly (string | undefined)[]): Mask {
  const matcher = getMatcher(secrets);
  return (text) => matcher.mask(text, REDACTED);
}
