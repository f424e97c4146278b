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
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}/gi,
  /(?<=(?:api[_-]?key|token|secret|passw(?:or)?d|pwd)["']?\s*[=:]\s*["']?)[^\s"',;&|]{6,}/gi,
];

export const REDACTED = "***";

/** Everything short that leaves a conversation for a screen passes through here. */
export function redact(text: string): string {
  return SECRET_SHAPES.reduce((cleaned, shape) => cleaned.replace(shape, REDACTED), text);
}
