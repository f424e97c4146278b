import { HoldfastError, type HoldfastErrorCode } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";

// Problems as in RFC 9457: `detail` says what was requested, what failed and what to do; code reads `code`.

type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 422 | 429 | 500 | 502 | 503 | 504;

/** Rejections by the server itself. */
export type ServerProblemCode =
  | "token-missing"
  | "token-invalid"
  | "host-not-allowed"
  | "origin-not-allowed"
  | "route-unknown"
  | "method-not-allowed"
  | "body-too-large"
  | "body-invalid"
  | "query-invalid"
  | "cursor-invalid"
  | "request-invalid"
  | "too-many-streams"
  | "server-closing"
  | "codec-failed"
  | "chat-stale"
  | "internal-error";

const PROBLEM_STATUS = {
  "token-missing": 401,
  "token-invalid": 401,
  "host-not-allowed": 403,
  "origin-not-allowed": 403,
  "route-unknown": 404,
  "method-not-allowed": 405,
  "body-too-large": 413,
  "body-invalid": 422,
  "query-invalid": 422,
  "cursor-invalid": 400,
  "request-invalid": 400,
  "too-many-streams": 503,
  "server-closing": 503,
  "codec-failed": 422,
  "chat-stale": 409,
  "internal-error": 500,
} as const satisfies Record<ServerProblemCode, ProblemStatus>;

const ERROR_STATUS = {
  unreachable: 503,
  "server-refused": 502,
  "namespace-unknown": 503,
  "configuration-invalid": 500,
  "search-attributes-missing": 503,
  "definition-invalid": 422,
  "definition-unaccepted": 409,
  "workspace-invalid": 422,
  "input-invalid": 422,
  "input-too-large": 413,
  "input-unsupported": 422,
  "session-busy": 409,
  "queue-full": 429,
  "session-unknown": 404,
  "approval-unknown": 409,
  "update-rejected": 409,
  "session-ended": 409,
  "no-worker": 503,
  "wait-cancelled": 503,
  "run-terminated": 409,
  "run-timed-out": 409,
  "run-failed": 500,
  "output-invalid": 500,
  "output-unreadable": 409,
  "store-failed": 503,
  "key-missing": 503,
  "key-mismatch": 503,
  "session-locked": 409,
} as const satisfies Record<HoldfastErrorCode, ProblemStatus>;

export const PROBLEM_STATUSES = { ...PROBLEM_STATUS, ...ERROR_STATUS };
export type ProblemCode = keyof typeof PROBLEM_STATUSES;

/** A request that the server rejects before it asks anyone else. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
  readonly code: ServerProblemCode;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ServerProblemCode, message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.facts = facts;
  }
}

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: ProblemStatus;
  readonly detail: string;
  readonly code: string;
  /** The request. */
  readonly instance: string;
  /** The methods that the address supports. */
  readonly allow?: readonly string[];
};

export function toProblem(error: unknown, target: string): Problem {
  if (error instanceof ServerProblem) {
    return buildProblem(error.code, error.message, target, error.facts);
  }
  if (error instanceof HoldfastError) {
    return buildProblem(error.code, error.message, target, error.facts);
  }
  const detail =
    "An internal error occurred, which is no fault of this request; the server has logged it. " +
    "Retry. If the error persists, read the output of `holdfast serve`.";
  return buildProblem("internal-error", detail, target, {});
}

/** @param error - Reported to the operator if the caller can do nothing about it. */
export function isInternalError(error: unknown): boolean {
  return !(error instanceof ServerProblem) && !(error instanceof HoldfastError);
}

export function createProblemResponse(problem: Problem): Response {
  const busy = problem.status === 503 || problem.status === 429;
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...omitUndefined({ allow: problem.allow?.join(", ") }),
      ...(problem.status === 401 ? { "www-authenticate": 'Bearer realm="holdfast"' } : {}),
      ...(busy ? { "retry-after": "1" } : {}),
    },
  });
}

function buildProblem(code: ProblemCode, detail: string, instance: string, facts: object): Problem {
  const status = PROBLEM_STATUSES[code];
  const title = code.replaceAll("-", " ");
  return { ...facts, type: `urn:holdfast:problem:${code}`, title, status, detail, code, instance };
}
