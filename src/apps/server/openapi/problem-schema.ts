import { z } from "zod";
import { PROBLEM_STATUSES, type ProblemCode } from "../problem.ts";

const CODES = Object.keys(PROBLEM_STATUSES) as [ProblemCode, ...ProblemCode[]];

/** Why a request failed (RFC 9457). Its further fields are facts about the failure. */
export const Problem = z.looseObject({
  type: z.string().describe("The name of the kind of problem: `urn:holdfast:problem:CODE`."),
  title: z.string().describe("The code in words."),
  status: z.number().int().describe("The HTTP status of the answer."),
  detail: z.string().describe("What was tried, what came back, and what to do: for people."),
  code: z.enum(CODES).describe("The kind of problem: for programs."),
  instance: z.string().describe("The request."),
  session: z.string().optional().describe("The session that the request is about."),
  problems: z.array(z.string()).optional().describe("Everything that is wrong with the input."),
  allow: z.array(z.string()).optional().describe("The methods that the address supports."),
});

/** Problems that any request may have. */
const OF_ALL: readonly ProblemCode[] = [
  "host-not-allowed",
  "origin-not-allowed",
  "request-invalid",
  "internal-error",
];
const OF_PROTECTED: readonly ProblemCode[] = ["token-missing", "token-invalid"];

/** Problems of requests that read a session from Temporal and the transcript. */
export const READ_PROBLEMS: readonly ProblemCode[] = [
  "session-unknown",
  "input-invalid",
  "unreachable",
  "server-refused",
  "namespace-unknown",
  "store-failed",
  "key-missing",
];

/** Problems of requests that a worker must answer. */
export const RUN_PROBLEMS: readonly ProblemCode[] = [
  ...READ_PROBLEMS,
  "session-busy",
  "session-ended",
  "session-locked",
  "no-worker",
  "key-mismatch",
  "queue-full",
  "input-too-large",
  "input-unsupported",
];

/** Problems of requests that start a run. */
export const START_PROBLEMS: readonly ProblemCode[] = [
  ...RUN_PROBLEMS,
  "definition-invalid",
  "definition-unaccepted",
  "workspace-invalid",
  "search-attributes-missing",
  "configuration-invalid",
];

export const QUERY_PROBLEMS: readonly ProblemCode[] = ["query-invalid"];
export const BODY_PROBLEMS: readonly ProblemCode[] = ["body-invalid", "body-too-large"];

/** Returns the codes of an operation's problems by status. */
export function groupProblems(
  own: readonly ProblemCode[],
  isPublic: boolean,
): ReadonlyMap<number, readonly ProblemCode[]> {
  const groups = new Map<number, ProblemCode[]>();
  for (const code of new Set([...OF_ALL, ...(isPublic ? [] : OF_PROTECTED), ...own])) {
    const status = PROBLEM_STATUSES[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return new Map([...groups].sort(([one], [other]) => one - other));
}
