import { randomUUID } from "node:crypto";
import { getKind } from "../schema/check.ts";
import { HoldfastError } from "./holdfast-error.ts";

/** Temporal takes 1,000 bytes for a workflow id; loop ids and file names are made from ours. */
const MAX_SESSION_ID_BYTES = 200;

/** A session's id: the one that was asked for, or a new one. */
export function resolveSessionId(requestedId?: string): string {
  if (requestedId === undefined) return randomUUID();
  const problem =
    typeof requestedId !== "string"
      ? `it must be a text, not ${getKind(requestedId)}`
      : requestedId === ""
        ? "it is empty"
        : Buffer.byteLength(requestedId) > MAX_SESSION_ID_BYTES
          ? `it has more than ${MAX_SESSION_ID_BYTES} bytes`
          : /[\p{Cc}\s/\\]/u.test(requestedId)
            ? "it holds white space, a slash or a control character"
            : /\p{Surrogate}/u.test(requestedId)
              ? "it holds half of a character (a surrogate without its other half)"
              : undefined;
  if (problem === undefined) return requestedId;
  throw new HoldfastError(
    "input-invalid",
    `"${String(requestedId)
      .slice(0, 80)
      .replace(/\p{Surrogate}/gu, "\uFFFD")}" cannot be a session's id: ${problem}.`,
    {
      problems: [problem],
    },
  );
}
