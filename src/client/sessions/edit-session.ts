import { randomUUID } from "node:crypto";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { ContinuationKind } from "../../schema/record.ts";
import type { EditResult, SessionEdit } from "../../store/transcript/archive.ts";
import { createBusyError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { checkMessages } from "../interop/saved-messages.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";
import { validateDefinition } from "../runs/pin-definition.ts";
import { clearQueues, stopSession } from "../runs/queue-message.ts";

// Changes of a conversation from outside, while no run is open (PER-01, PER-05, PER-06). Nothing is deleted: each change is
// a loop of the record, and a new beginning is a branch.

export async function readSessionMessages(
  link: ClientLink,
  session: string,
): Promise<readonly AgentMessage[]> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const to = await transcript.countEntries(session, record.headBranch);
    const entries = await transcript.readEntries(session, record.headBranch, 0, to);
    return entries.map(({ message }) => message);
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** Continues from these messages on a new branch. */
export async function replaceMessages(
  link: ClientLink,
  session: string,
  messages: readonly AgentMessage[],
): Promise<EditResult> {
  return await applyEdit(link, session, {
    at: "empty",
    kind: createBranchKind(),
    messages: checkMessages(messages),
  });
}

export async function appendMessages(
  link: ClientLink,
  session: string,
  messages: readonly AgentMessage[],
): Promise<EditResult> {
  return await applyEdit(link, session, {
    at: "head",
    kind: { type: "default" },
    messages: checkMessages(messages),
  });
}

/** Lets the model see every message of an idle session again that a compaction has replaced (CMP-01). */
export async function removeCompaction(link: ClientLink, session: string): Promise<EditResult> {
  return await applyEdit(link, session, {
    at: "head",
    kind: { type: "compaction", removes: true },
    messages: [],
  });
}

export async function clearMessages(link: ClientLink, session: string): Promise<EditResult> {
  return await applyEdit(link, session, { at: "empty", kind: createBranchKind(), messages: [] });
}

/** Stops the run, discards all waiting messages, and begins an empty conversation (PER-05). */
export async function resetSession(link: ClientLink, session: string): Promise<EditResult> {
  await getSessionRecord(link, session);
  const run = await describeRun(link, session);
  if (run !== undefined && isOpen(run)) {
    await clearQueues(link, session, "all").catch(() => undefined);
    await stopSession(link, session, "The session is being reset");
    await link.client.workflow
      .getHandle(session, run.runId)
      .result()
      .catch(() => undefined);
  }
  return await applyEdit(link, session, {
    at: "empty",
    kind: createBranchKind(),
    messages: [],
    clearInbox: true,
  });
}

/** Creates a session that begins with messages, before its first run (PER-01). */
export async function preloadSession(
  link: ClientLink,
  session: string,
  agent: AgentDefinitionInput,
  messages: readonly AgentMessage[],
  {
    parentLoopId,
    agentId = randomUUID(),
  }: Pick<NonNullable<SessionEdit["create"]>, "parentLoopId" | "agentId"> = {},
): Promise<EditResult> {
  const definition = validateDefinition(agent);
  try {
    const transcript = await link.storage.openTranscript();
    const definitionHash = await transcript.saveDefinition(definition);
    return await transcript.archive.edit({
      session,
      key: randomUUID(),
      atMs: Date.now(),
      at: "head",
      kind: parentLoopId === undefined ? { type: "initial" } : createBranchKind(),
      messages: checkMessages(messages),
      create: {
        definitionHash,
        agentId,
        agentName: definition.name,
        model: definition.model.id,
        parentLoopId,
        ...(definition.sessionScope === "persistent" ? { scope: definition.sessionScope } : {}),
      },
    });
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function createBranchKind(): ContinuationKind {
  return { type: "branch", tag: new Date().toISOString() };
}

async function applyEdit(
  link: ClientLink,
  session: string,
  change: Pick<SessionEdit, "at" | "kind" | "messages" | "clearInbox">,
): Promise<EditResult> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const run = await describeRun(link, session);
    if (run !== undefined && isOpen(run)) throw createBusyError(session);
    const { lastLoopId: last } = record;
    return await transcript.archive.edit({
      ...change,
      session,
      key: randomUUID(),
      atMs: Date.now(),
      ...omitUndefined({ after: last }),
    });
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
