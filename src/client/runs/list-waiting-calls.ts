import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { PendingApproval } from "../../core/machine/approvals.ts";
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

/** A call that waits for a person, with what the transcript on this machine knows of it. */
export type WaitingCall = PendingApproval & {
  /** Whose call it is: the session that was asked about, or one below it. */
  readonly session: string;
  /** Names of the agents on the way down to it; empty for the session that was asked about. */
  readonly path: readonly string[];
  /** As the model sent them; absent when the transcript does not lie here. */
  readonly arguments?: unknown;
  /** What its tool asks, where it has a `question`; absent when the transcript does not lie here. */
  readonly asks?: UserQuestion;
  /** The folder that the call's paths are relative to. */
  readonly workspace?: string;
};

/** Without what a transcript would have to be asked for. */
export type WaitingEntry = Omit<WaitingCall, "arguments" | "asks" | "workspace">;

/** An answer is looked for from the end of the conversation, so many entries at a time. */
const PAGE = 64;
const MAX_PAGES = 16;

/** The calls of a session, and of all agents below it, that wait for a person: its own first, in the order of its answer. */
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

/** @param runs - Of the tree, where they are known already. */
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

/** Those that say that they wait, and those that say nothing. */
export function filterAskingRuns(runs: readonly OpenRun[]): readonly OpenRun[] {
  return runs.filter(
    ({ type, status }) => type === AGENT_WORKFLOW && (status === undefined || status === "needs-approval"),
  );
}

/** Of a run that has ended meanwhile, none. */
async function readWaiting(link: ClientLink, { session, path }: OpenRun): Promise<readonly WaitingEntry[]> {
  const status = await askStatus(link, session);
  if (status !== undefined) return status.approvals.map((call) => ({ ...call, session, path }));
  const description = await describeRun(link, session);
  if (description === undefined || !isOpen(description)) return [];
  throw createNoWorkerError(link, session);
}

/** Adds what the transcript knows. That it cannot be read leaves the question as it is. */
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
      const { question, toolCallId } = approval;
      const asks = question === undefined ? undefined : await readQuestion(transcript, question);
      return {
        ...approval,
        ...(sent.has(toolCallId) ? { arguments: sent.get(toolCallId) } : {}),
        ...(asks === undefined ? {} : { asks }),
        ...(workspace === undefined ? {} : { workspace }),
      };
    });
  } catch {
    return approvals;
  }
}

/** The arguments of calls by id, from the newest answer that holds one of them: ids may come again in later answers. */
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
