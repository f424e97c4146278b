import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { PendingApproval } from "../../core/machine/approvals.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { UserQuestion } from "../../schema/user-question.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { AGENT_WORKFLOW } from "../../workflows/messages.ts";
import { createNoWorkerError, createUnknownSessionError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import {
  askStatus,
  describeRun,
  findRunsBelow,
  isOpen,
  mapWithConcurrency,
  type OpenRun,
} from "./open-runs.ts";
import { readQuestion } from "./read-question.ts";

/** A call that waits for a user, with its details from the transcript on this machine. */
export type WaitingCall = PendingApproval & {
  /** The session that made the call: the given one, or one below it. */
  readonly session: string;
  /** The names of the agents on the path down to it; empty for the given session. */
  readonly path: readonly string[];
  /** The arguments as the model sent them; absent if the transcript is not on this machine. */
  readonly arguments?: unknown;
  /** The tool's question, if `questionRef` is present; absent if the transcript is not on this machine. */
  readonly question?: UserQuestion;
  /** The folder that the call's paths are relative to. */
  readonly workspace?: string;
};

/** A pending call without its details from a transcript. */
export type WaitingEntry = Omit<WaitingCall, "arguments" | "question" | "workspace">;

/** How many entries are read at a time, from the end of the conversation, to find an answer. */
const PAGE = 64;
const MAX_PAGES = 16;

/** Lists the pending calls of a session and of all agents below it: its own first, in the order of its answer. */
export async function listWaitingCalls(link: ClientLink, session: string): Promise<readonly WaitingCall[]> {
  const description = await describeRun(link, session);
  if (description === undefined) {
    if ((await (await link.storage.openExistingTranscript())?.readSession(session)) === undefined) {
      throw createUnknownSessionError(link, session);
    }
    return [];
  }
  const waiting = await findWaitingInTree(link, description);
  const sessions = [...new Set(waiting.map((call) => call.session))];
  return (
    await mapWithConcurrency(sessions, (one) =>
      addArguments(
        link,
        one,
        waiting.filter((call) => call.session === one),
      ),
    )
  ).flat();
}

/** @param runs - The runs of the tree, if they are known already. */
export async function findWaitingInTree(
  link: ClientLink,
  root: WorkflowExecutionDescription,
  runs?: readonly OpenRun[],
): Promise<readonly WaitingEntry[]> {
  if (!isOpen(root)) return [];
  const session = root.workflowId;
  const own = root.type === AGENT_WORKFLOW ? await askStatus(link, session) : { approvals: [] };
  if (own === undefined) throw createNoWorkerError(link, session);
  const below = await mapWithConcurrency(filterAskingRuns(runs ?? (await findRunsBelow(link, root))), (run) =>
    readWaiting(link, run),
  );
  return [...own.approvals.map((call) => ({ ...call, session, path: [] })), ...below.flat()];
}

/** Returns the runs that report a pending call, and those that report no status. */
export function filterAskingRuns(runs: readonly OpenRun[]): readonly OpenRun[] {
  return runs.filter(
    ({ type, status }) => type === AGENT_WORKFLOW && (status === undefined || status === "needs-approval"),
  );
}

/** Returns nothing for a run that has ended meanwhile. */
async function readWaiting(link: ClientLink, { session, path }: OpenRun): Promise<readonly WaitingEntry[]> {
  const status = await askStatus(link, session);
  if (status !== undefined) return status.approvals.map((call) => ({ ...call, session, path }));
  const description = await describeRun(link, session);
  if (description === undefined || !isOpen(description)) return [];
  throw createNoWorkerError(link, session);
}

/** Adds the details from the transcript. If it cannot be read, the question stays as it is. */
async function addArguments(
  link: ClientLink,
  session: string,
  approvals: readonly WaitingEntry[],
): Promise<readonly WaitingCall[]> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const record = await transcript?.readSession(session);
    if (transcript === undefined || record === undefined) return approvals;
    const sent = await findCallArguments(
      transcript,
      record,
      new Set(approvals.map(({ toolCallId }) => toolCallId)),
    );
    const workspace = (await transcript.readDefinition(record.definitionHash))?.workspace;
    return await mapWithConcurrency(approvals, async (approval) => {
      const { questionRef, toolCallId } = approval;
      const question = questionRef === undefined ? undefined : await readQuestion(transcript, questionRef);
      return {
        ...approval,
        ...(sent.has(toolCallId) ? { arguments: sent.get(toolCallId) } : {}),
        ...omitUndefined({ question, workspace }),
      };
    });
  } catch {
    return approvals;
  }
}

/** Returns the arguments of calls by id, from the newest answer that has one of them: later answers may reuse ids. */
async function findCallArguments(
  transcript: Transcript,
  { id, headBranch }: SessionRecord,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, unknown>> {
  let to = await transcript.countEntries(id, headBranch);
  for (let page = 0; page < MAX_PAGES && to > 0; page += 1) {
    const from = Math.max(0, to - PAGE);
    const entries = await transcript.readEntries(id, headBranch, from, to);
    for (const { message } of [...entries].reverse()) {
      if (message.role !== "assistant") continue;
      const calls = message.content.flatMap((part) =>
        part.type === "toolCall" && wanted.has(part.id) ? [[part.id, part.arguments] as const] : [],
      );
      if (calls.length > 0) return new Map(calls);
    }
    to = from;
  }
  return new Map();
}
