import { CompactBody, ForkBody, RewindBody } from "../request-schemas.ts";
import { CompactedSession, ForkedBranch, RewoundSession } from "./answer-schemas.ts";
import { type Operation, SESSION } from "./operation.ts";
import { BODY_PROBLEMS, RUN_PROBLEMS, START_PROBLEMS } from "./problem-schema.ts";

/** Operations that change what the next run of a session sees, and nothing in the record. */
export const BRANCHES: readonly Operation[] = [
  {
    id: "forkSession",
    method: "post",
    path: `${SESSION}/fork`,
    tag: "Branches",
    summary: "Begin a branch, or a new session, at a position of the conversation; nothing is copied",
    body: ForkBody,
    answers: {
      201: {
        description: "The branch exists.",
        schema: ForkedBranch,
        headers: { location: "The address of the branch's session." },
      },
    },
    problems: [...BODY_PROBLEMS, ...RUN_PROBLEMS],
  },
  {
    id: "rewindSession",
    method: "post",
    path: `${SESSION}/rewind`,
    tag: "Branches",
    summary: "Move the head of an idle session to a position, backward or forward",
    body: RewindBody,
    answers: { 200: { description: "The head has moved.", schema: RewoundSession } },
    problems: [...BODY_PROBLEMS, ...RUN_PROBLEMS],
  },
  {
    id: "compactSession",
    method: "post",
    path: `${SESSION}/compact`,
    tag: "Branches",
    summary: "Compact the context: an open run before its next answer, an idle session in a run of its own",
    body: CompactBody,
    answers: {
      200: { description: "The compaction is removed.", schema: CompactedSession },
      202: { description: "The compaction is requested.", schema: CompactedSession },
    },
    problems: [...BODY_PROBLEMS, ...START_PROBLEMS],
  },
];
