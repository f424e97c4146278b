import { z } from "zod";
import { KEY_BLOCKS, SECRET_SHAPES } from "../platform/text/secret-shapes.ts";

// Headers that a definition adds to requests, and where a header must not contain a secret. A definition is stored,
// displayed and exported; only the worker has the values of its `${NAME}`.

const MAX_VALUE = 8192;
const REFERENCES = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;

/** RFC 9110: a token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Visible characters, spaces and tabs; bytes above them are sent as Latin-1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Names of headers that only contain secrets. */
const SECRET_HEADER =
  /(?:^|[-_])(?:api-?key|key|token|secret|auth|authorization|password|passwd|credentials?|signature|cookie)(?:[-_]|$)/i;
const NO_SECRET =
  /^(?:x-)?(?:idempotency|cache|surrogate|partition|routing|sort|sec-websocket)-key$|^x-auth-type$/i;

/** This many characters in one run, beside a reference, are more than the name of a scheme. */
const LITERAL_RUN = /[A-Za-z0-9+/_=.~-]{20}/;

export const BY_REFERENCE =
  "write a reference to it, as ${NAME}: the worker's environment has the value, never the definition";

/** Reports whether a text contains something that looks like a key; references to one do not count. */
export function holdsSecret(text: string): boolean {
  const literal = text.replace(REFERENCES, "");
  return [...KEY_BLOCKS, ...SECRET_SHAPES].some((shape) => literal.search(shape) >= 0);
}

/** Reports whether a text contains a secret itself instead of a reference. */
export function isLiteralSecret(text: string): boolean {
  const literal = text.replace(REFERENCES, "");
  return literal === text ? text !== "" : LITERAL_RUN.test(literal);
}

/** Returns why a header cannot be sent, or nothing. No message contains the value. */
export function findHeaderProblem(name: string, value: string): string | undefined {
  if (!HEADER_NAME.test(name)) {
    return `${JSON.stringify(name.slice(0, 64))} is not a header name: use letters, digits and "-"`;
  }
  if (/[\r\n]/.test(value))
    return `the value of "${name}" has a line break, which is not allowed in a header`;
  if (!HEADER_VALUE.test(value)) {
    return `the value of "${name}" has a character that is not allowed in a header: use Latin-1 characters without control characters`;
  }
  return undefined;
}

/** The name of a header. */
export const HeaderName = z
  .string()
  .max(200)
  .regex(HEADER_NAME, 'must be a header name: letters, digits and "-"');

/** Headers by name. A secret must be a reference; any other value may be written out. */
export const Headers = z.record(z.string(), z.string().max(MAX_VALUE)).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    const message = findHeaderProblem(name, value) ?? findSecretProblem(name, value);
    if (message !== undefined) context.addIssue({ code: "custom", path: [name], message });
  }
});

function findSecretProblem(name: string, value: string): string | undefined {
  const named = SECRET_HEADER.test(name) && !NO_SECRET.test(name) && isLiteralSecret(value);
  return named || holdsSecret(value) ? `"${name}" looks like a secret; ${BY_REFERENCE}` : undefined;
}

/** The error for an address that contains a secret in its query or before its host. */
export const NO_SECRET_IN_ADDRESS = {
  error: `remove keys and passwords from the address; put a header in \`headers\` and ${BY_REFERENCE}`,
};
