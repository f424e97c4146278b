import { randomUUID } from "node:crypto";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { ContinuationKind } from "../../schema/record.ts";
import type { Edit, Edited } from "../../store/transcript/archive.ts";
import type { Link } from "../connection/link.ts";
import { busy, translated } from "../failures.ts";
import { messagesFrom, messagesFromJson, messagesToJson } from "../interop/saved-messages.ts";
import { knownSession } from "../runs/known-session.ts";
import { validDefinition } from "../runs/pinned-definition.ts";
import { clearQueues, stopSession } from "../runs/send.ts";
import { describeRun, isOpen } from "../runs/tree.ts";

// A conversation changed from outside, while nothing runs (PER-01, PER-05, PER-06). Nothing is destroyed: each change is a
// loop of the record, and what begins anew is a branch.

/** The conversation that the session goes on with, as a JSON array. */
export async function saveMessages(link: Link, session: string): Promise<string> {
  return messagesToJson(await messagesOf(link, session));
}

export async function messagesOf(link: Link, session: string): Promise<readonly AgentMessage[]> {
  try {
    const { transcript, record } = await knownSession(link, session);
    const to = await transcript.length(session, record.headBranch);
    const entries = await transcript.entries(session, record.headBranch, 0, to);
    return entries.map(({ message }) => message);
  } catch (error) {
    throw translated(error, link, session);
  }
}

/** Goes on from these messages, on a branch of their own. @param saved - What `saveMessages` has given, or messages. */
export async function restoreMessages(
  link: Link,
  session: string,
  saved: string | readonly AgentMessage[],
): Promise<Edited> {
  const messages = typeof saved === "string" ? messagesFromJson(saved) : messagesFrom(saved);
  return await edited(link, session, { at: "empty", kind: branch(), messages });
}

export async function appendMessages(
  link: Link,
  session: string,
  messages: readonly AgentMessage[],
): Promise<Edited> {
  return await edited(link, session, {
    at: "head",
    kind: { type: "default" },
    messages: messagesFrom(messages),
  });
}

export async function clearMessages(link: Link, session: string): Promise<Edited> {
  return await edited(link, session, { at: "empty", kind: branch(), messages: [] });
}

/** Stops what runs, lets go of all that waits, and begins with nothing (PER-05). */
export async function resetSession(link: Link, session: string): Promise<Edited> {
  await knownSession(link, session);
  const run = await describeRun(link, session);
  if (run !== undefined && isOpen(run)) {
    await clearQueues(link, session, "all").catch(() => undefined);
    await stopSession(link, session, "The session is being reset");
    await link.client.workflow
      .getHandle(session, run.runId)
      .result()
      .catch(() => undefined);
  }
  return await edited(link, session, { at: "empty", kind: branch(), messages: [], clearInbox: true });
}

/** A session that begins with messages, before its first run (PER-01). */
export async function preloadSession(
  link: Link,
  session: string,
  agent: AgentDefinitionInput,
  messages: readonly AgentMessage[],
  {
    parentLoopId,
    agentId = randomUUID(),
  }: Pick<NonNullable<Edit["create"]>, "parentLoopId" | "agentId"> = {},
): Promise<Edited> {
  const definition = validDefinition(agent);
  try {
    const transcript = await link.storage.transcript();
    const definitionHash = await transcript.saveDefinition(definition);
    return await transcript.archive.edit({
      session,
      key: randomUUID(),
      atMs: Date.now(),
      at: "head",
      kind: parentLoopId === undefined ? { type: "initial" } : branch(),
      messages: messagesFrom(messages),
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
    throw translated(error, link, session);
  }
}

function branch(): ContinuationKind {
  return { type: "branch", tag: new Date().toISOString() };
}

async function edited(
  link: Link,
  session: string,
  change: Pick<Edit, "at" | "kind" | "messages" | "clearInbox">,
): Promise<Edited> {
  try {
    const { transcript, record } = await knownSession(link, session);
    const run = await describeRun(link, session);
    if (run !== undefined && isOpen(run)) throw busy(session);
    const { lastLoopId: last } = record;
    return await transcript.archive.edit({
      ...change,
      session,
      key: randomUUID(),
      atMs: Date.now(),
      ...(last === undefined ? {} : { after: last }),
    });
  } catch (error) {
    throw translated(error, link, session);
  }
}
