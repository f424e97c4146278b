import type { PendingApproval } from "../core/approvals.ts";
import type { SessionRecord } from "../transcript/session.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { noWorker } from "./failures.ts";
import type { Link } from "./link.ts";
import { sessionStatus } from "./status.ts";

/** A call that waits for a person, with what the transcript on this machine knows of it. */
export type WaitingCall = PendingApproval & {
  /** As the model sent them; absent when the transcript does not lie here. */
  readonly arguments?: unknown;
  /** The folder that the call's paths are relative to. */
  readonly workspace?: string;
};

/** An answer is looked for from the end of the conversation, so many entries at a time. */
const PAGE = 64;
const MAX_PAGES = 16;

/** The calls of a session that wait for a person, in the order of the model's answer. */
export async function waitingCalls(link: Link, session: string): Promise<readonly WaitingCall[]> {
  const { open, source, approvals } = await sessionStatus(link, session);
  if (open && source !== "run") throw noWorker(link, session);
  return approvals === undefined || approvals.length === 0 ? [] : withArguments(link, session, approvals);
}

/** Adds what the transcript knows. That it cannot be read leaves the question as it is. */
export async function withArguments(
  link: Link,
  session: string,
  approvals: readonly PendingApproval[],
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
    return approvals.map((approval) => ({
      ...approval,
      ...(sent.has(approval.toolCallId) ? { arguments: sent.get(approval.toolCallId) } : {}),
      ...(workspace === undefined ? {} : { workspace }),
    }));
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
