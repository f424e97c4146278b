import { truncateForPreview } from "./preview.ts";

export const REDACTED = "***";

/**
 * Shapes of keys that must not be shown in a summary, a preview, a log or an error, whoever typed them.
 *
 * Vendors' own prefixes where they have one; else an assignment to a name that says what it is.
 */
const SECRET_SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z0-9_]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  // Only where a word begins, and only in front of two dots: a word full of "eyJ" is looked at once.
  /(?<![\w-])(?=[\w-]{13,}\.[\w-]{10,}\.[\w-]{5})([\w-]*?)\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Each looks ahead first: looking back from within a run of blanks would go through it again for each blank.
  /(?=[A-Za-z0-9._~+/=-]{12})(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}/gi,
  /(?=[^\s"',;&|]{6})(?<=(?:api[_-]?key|token|secret|passw(?:or)?d|pwd)["']?\s*[=:]\s*["']?)[^\s"',;&|]{6,}/gi,
];

/**
 * Everything short that leaves a conversation for a screen passes through here; the time grows with the text alone.
 * Of megabytes without a blank the shapes give up: whoever has them shows their beginning.
 */
export function redact(text: string): string {
  return SECRET_SHAPES.reduce((cleaned, shape) => cleaned.replace(shape, masked), text);
}

/** Shapes without a group are given the place of what was found instead, which is a number. */
function masked(_found: string, kept: unknown): string {
  return typeof kept === "string" ? kept + REDACTED : REDACTED;
}

/** What is looked through for keys, in characters: some times as much as is ever shown. */
const READ_CHARS = 64 * 1024;

/** The beginning of a text of any length, without what looks like a key, cut as a preview is. */
export function shownBriefly(text: string, maxBytes: number): string {
  return truncateForPreview(redact(text.slice(0, READ_CHARS)), maxBytes);
}
