import type { SearchAttributeName } from "../schema/search-attributes.ts";

/** What went wrong, as code reads it. */
export type HoldfastErrorCode =
  /** Nothing answers at the address. */
  | "unreachable"
  /** The server answers and refuses us, or cannot do what was asked. */
  | "server-refused"
  | "namespace-unknown"
  /** A Temporal profile, `TEMPORAL_*` or `HOLDFAST_*` cannot be used. */
  | "configuration-invalid"
  | "search-attributes-missing"
  | "definition-invalid"
  /** It came with an import, and nobody has accepted it here. */
  | "definition-unaccepted"
  | "workspace-invalid"
  | "input-invalid"
  | "input-too-large"
  /** A loop of the session is running. */
  | "session-busy"
  /** So many messages wait for the session's agent that it takes no more; `waiting` and `bytes` say what waits. */
  | "queue-full"
  | "session-unknown"
  /** Someone else is saving it. */
  | "session-locked"
  /** No call of the session waits for a person, or not that one. */
  | "approval-unknown"
  /** The session keeps the definition that it has; the problems say why. */
  | "update-refused"
  /** The run was ended before it took what was sent, or there was none. */
  | "session-ended"
  /** Whoever waited has given the wait up, with a signal of its own. What was waited for goes on. */
  | "wait-cancelled"
  /** No worker took the request in time. */
  | "no-worker"
  /** The run was ended from outside: there is no result. */
  | "run-terminated"
  | "run-timed-out"
  /** The run failed in a way that is not an outcome of ours. */
  | "run-broken"
  /** A structured output does not fit the client's own schema. */
  | "output-invalid"
  /** A structured output is too long for a result, and the transcript is elsewhere. */
  | "output-unreadable"
  /** The workers of the queue have other keys than this process. */
  | "keys-differ"
  /** Something is sealed with a key that is not here, or is another one here. */
  | "key-missing"
  /** The transcript cannot be read or written. */
  | "store-failed";

/** The facts of an error; which of them are there depends on its code. */
export type HoldfastErrorFacts = {
  readonly address?: string;
  readonly namespace?: string;
  /** The namespaces that the server has. */
  readonly namespaces?: readonly string[];
  readonly taskQueue?: string;
  readonly session?: string;
  readonly runId?: string;
  readonly problems?: readonly string[];
  readonly missing?: readonly SearchAttributeName[];
  readonly wrongType?: readonly SearchAttributeName[];
  /** What to type. */
  readonly command?: string;
  /** Messages that wait, and how many may. */
  readonly waiting?: number;
  readonly maxWaiting?: number;
  readonly bytes?: number;
  readonly maxBytes?: number;
};

/** Everything that the client refuses or fails at. The message is for a person; code reads `code` and `facts`. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly code: HoldfastErrorCode;
  readonly facts: HoldfastErrorFacts;

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

/** The last sentence that something says about itself, for the middle of ours. */
export function getErrorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const details = (error as { details?: unknown }).details;
  if (typeof details === "string" && details !== "") return details;
  return error.cause instanceof Error ? getErrorMessage(error.cause) : error.message;
}
