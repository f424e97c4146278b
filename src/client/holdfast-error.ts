import type { Outcome } from "../schema/record.ts";
import type { SearchAttributeName } from "../schema/search-attributes.ts";

/** The kind of error, for code to branch on. */
export type HoldfastErrorCode =
  /** No server answers at the address. */
  | "unreachable"
  /** The server rejects the request, or cannot do what it asks for. */
  | "server-refused"
  | "namespace-unknown"
  /** A Temporal profile, a `TEMPORAL_*` or a `HOLDFAST_*` variable has an unusable value. */
  | "configuration-invalid"
  | "search-attributes-missing"
  | "definition-invalid"
  /** The definition arrived with an import, and nobody has accepted it here. */
  | "definition-unaccepted"
  | "workspace-invalid"
  | "input-invalid"
  | "input-too-large"
  /** The model cannot read an image or a file of the message. */
  | "input-unsupported"
  /** A loop of the session is running. */
  | "session-busy"
  /** The queues of the session's agent are full; `waiting` and `bytes` give their size. */
  | "queue-full"
  | "session-unknown"
  /** Another process is saving the session. */
  | "session-locked"
  /** No call of the session waits for an answer, or not the given one. */
  | "approval-unknown"
  /** The session retains its current definition; `problems` lists the reasons. */
  | "update-rejected"
  /** The run ended before it accepted the message, or there was no run. */
  | "session-ended"
  /** The caller cancelled the wait with its own signal. The run continues. */
  | "wait-cancelled"
  /** No worker took the request before the timeout. */
  | "no-worker"
  /** The run was terminated from outside: there is no result. */
  | "run-terminated"
  | "run-timed-out"
  /** The run failed. `outcome` says why, if the run itself has ended with it. */
  | "run-failed"
  /** A structured output does not match the client's own schema. */
  | "output-invalid"
  /** A structured output is too long for a result, and the transcript is not on this machine. */
  | "output-unreadable"
  /** The workers of the queue use other encryption keys than this process. */
  | "key-mismatch"
  /** A value is encrypted with a key that this process does not have, or has with other bytes. */
  | "key-missing"
  /** The transcript cannot be read or written. */
  | "store-failed";

/** The facts of an error. The code determines which of them are present. */
export type HoldfastErrorFacts = {
  readonly address?: string;
  readonly namespace?: string;
  /** The namespaces of the server. */
  readonly namespaces?: readonly string[];
  readonly taskQueue?: string;
  readonly session?: string;
  readonly runId?: string;
  /** How the run ended. */
  readonly outcome?: Outcome;
  /** What is wrong, one entry per finding. */
  readonly problems?: readonly string[];
  /** The search attributes that the namespace lacks. */
  readonly missing?: readonly SearchAttributeName[];
  /** The search attributes that are registered with another type. */
  readonly wrongType?: readonly SearchAttributeName[];
  /** The command that resolves the problem. */
  readonly command?: string;
  /** The number of waiting messages, and the maximum. */
  readonly waiting?: number;
  /** The most messages that may wait. */
  readonly maxWaiting?: number;
  /** The size of what was sent or waits, in bytes. */
  readonly bytes?: number;
  /** The maximum of `bytes`. */
  readonly maxBytes?: number;
};

/** Every error of the client. The message is for people; code reads `code` and `facts`. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  /** What went wrong, for code. */
  readonly code: HoldfastErrorCode;
  /** The values that the message quotes. */
  readonly facts: HoldfastErrorFacts;

  /** @internal */
  constructor(
    code: HoldfastErrorCode,
    message: string,
    facts: HoldfastErrorFacts & { readonly cause?: unknown } = {},
  ) {
    const { cause, ...rest } = facts;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.facts = rest;
  }
}

/** Returns the innermost message of an error, for use inside a longer message. */
export function getErrorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const details = (error as { details?: unknown }).details;
  if (typeof details === "string" && details !== "") return details;
  return error.cause instanceof Error ? getErrorMessage(error.cause) : error.message;
}
