import { randomUUID } from "node:crypto";
import { kindOf } from "../schema/check.ts";
import { HoldfastError } from "./error.ts";

/** Temporal takes 1,000 bytes for a workflow id; loop ids and file names are made from ours. */
const MAX_SESSION_ID_BYTES = 200;

/** A session's id: the one that was asked for, or a new one. */
export function sessionId(asked?: string): string {
  if (asked === undefined) return randomUUID();
  const problem =
    typeof asked !== "string"
      ? `it must be a text, not ${kindOf(asked)}`
      : asked === ""
        ? "it is empty"
        : Buffer.byteLength(asked) > MAX_SESSION_ID_BYTES
          ? `it has more than ${MAX_SESSION_ID_BYTES} bytes`
          : /[\p{Cc}\s/\\]/u.test(asked)
            ? "it holds white space, a slash or a control character"
            : undefined;
  if (problem === undefined) return asked;
  throw new HoldfastError(
    "input-invalid",
    `"${String(asked).slice(0, 80)}" cannot be a session's id: ${problem}.`,
    {
      problems: [problem],
    },
  );
}
