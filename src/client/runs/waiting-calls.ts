import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { PendingApproval } from "../../core/machine/approvals.ts";
import type { PersonQuestion } from "../../schema/person.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { AGENT_WORKFLOW } from "../../workflows/messages.ts";
import type { Link } from "../connection/link.ts";
import { noWorker, unknownSession } from "../failures.ts";
import { questionIn } from "./question-in.ts";
import { askStatus, describeRun, inTurns, isOpen, type OpenRun, runsBelow } from "./tree.ts";

/** A call that waits for a person, with what the transcript on this machine knows of it. */
export type WaitingCall = PendingApproval & {
  /** Whose call it is: the session that was asked about, or one below it. */
  readonly session: string;
  /** Names of the agents on the way down to it; empty for the session that was asked about. */
  readonly path: readonly string[];
  /** As the model sent them; absent when the transcript does not lie here. */
  readonly arguments?: unknown;
  /** What its tool asks, where it has a `question`; absent when the transcript does not lie here. */
  readonly asks?: PersonQuestion;
  /** The folder that the call's paths are relative to. */
  readonly workspace?: string;
};

/** Without what a transcript would have to be asked for. */
export type Waiting = Omit<WaitingCall, "arguments" | "asks" | "workspace">;

/** An answer is looked for from the end of the conversation, so many entries at a time. */
const PAGE = 64;
const MAX_PAGES = 16;

/** The calls of a session, and of all agents below it, that wait for a person: its own first, in the order of its answer. */
export async function waitingCalls(link: Link, session: string): Promise<readonly WaitingCall[]> {
  const description = await describeRun(link, session);
  if (description === undefined) {
    if ((await (await link.storage.existing())?.session(session)) === undefined) {
      throw unknownSession(link, session);
    }
    return [];
  }
  const waiting = await waitingInTree(link, description);
  const sessions = [...new Set(waiting.map((call) => call.session))];
  return (
    await inTurns(sessions, (one) =>
      withArguments(
        link,
        one,
        waiting.filter((call) => call.session === one),
      ),
    )
  ).flat();
}

/** @param runs - Of the tree, where they are known already. */
export async function waitingInTree(
  link: Link,
  root: WorkflowExecutionDescription,
  runs?: readonly OpenRun[],
): Promise<readonly Waiting[]> {
  if (!isOpen(root)) return [];
  const session = root.workflowId;
  const own = root.type === AGENT_WORKFLOW ? await askStatus(link, session) : { approvals: [] };
  if (own === undefined) throw noWorker(link, session);
  const below = await inTurns(asking(runs ?? (await runsBelow(link, root))), (run) => waitingOf(link, run));
  return [...own.approvals.map((call) => ({ ...call, session, path: [] })), ...below.flat()];
}

/** Those that say that they wait, and those that say nothing. */
export function asking(runs: readonly OpenRun[]): readonly OpenRun[] {
  return runs.filter(
    ({ type, status }) => type === AGENT_WORKFLOW && (status === undefined || status === "needs-approval"),
  );
}

/** Of a run that has ended meanwhile, none. */
async function waitingOf(link: Link, { session, path }: OpenRun): Promise<readonly Waiting[]> {
  const status = await askStatus(link, session);
  if (status !== undefined) return status.approvals.map((call) => ({ ...call, session, path }));
  const description = await describeRun(link, session);
  if (description === undefined || !isOpen(description)) return [];
  throw noWorker(link, session);
}

/** Adds what the transcript knows. That it cannot be read leaves the question as it is. */
async function withArguments(
  link: Link,
  session: string,
  approvals: readonly Waiting[],
): Promise<readonly WaitingCall[]> {
  try {
    const transcript = await link.storage.existing();
    const record = await transcript?.session(session);
    if (transcript === undefined || record === undefined) return approvals;
    const sent = await newestCalls(
      transcript,
      record,
      new Set(approvals.map(({ toolCallId }) => toolCallId)),
    );
    const workspace = (await transcript.definition(record.definitionHash))?.workspace;
    return await inTurns(approvals, async (approval) => {
      const { question, toolCallId } = approval;
      const asks = question === undefined ? undefined : await questionIn(transcript, question);
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
async function newestCalls(
  transcript: Transcript,
  { id, headBranch }: SessionRecord,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, unknown>> {
  let to = await transcript.length(id, headBranch);
  for (let page = 0; page < MAX_PAGES && to > 0; page += 1) {
    const from = Math.max(0, to - PAGE);
    const entries = await transcript.entries(id, headBranch, from, to);
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
