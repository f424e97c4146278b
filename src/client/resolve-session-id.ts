import { randomUUID } from "node:crypto";
import { getKind } from "../schema/check.ts";
import { HoldfastError } from "./holdfast-error.ts";

/** Temporal accepts 1,000 bytes for a workflow id; Holdfast builds loop ids and file names from a session's id. */
const MAX_SESSION_ID_BYTES = 200;

/** Returns the requested session id if it is valid, or a new one. */
export function resolveSessionId(requestedId?: string): string {
  if (requestedId === undefined) return randomUUID();
  const problem =
    typeof requestedId !== "string"
      ? `it must be text, not ${getKind(requestedId)}`
      : requestedId === ""
        ? "it is empty"
        : Buffer.byteLength(requestedId) > MAX_SESSION_ID_BYTES
          ? `it has more than ${MAX_SESSION_ID_BYTES} bytes`
          : /[\p{Cc}\s/\\]/u.test(requestedId)
            ? "it contains white space, a slash or a control character"
            : /\p{Surrogate}/u.test(requestedId)
              ? "it contains half a character (a surrogate without its other half)"
              : undefined;
  if (problem === undefined) return requestedId;
  throw new HoldfastError(
    "input-invalid",
    `"${String(requestedId)
      .slice(0, 80)
      .replace(/\p{Surrogate}/gu, "\uFFFD")}" is not a valid session id: ${problem}.`,
    {
      problems: [problem],
    },
  );
}
