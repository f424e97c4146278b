import { readFile, writeFile } from "node:fs/promises";
import { z } from "zod";
import { buildConfigSnapshot } from "../../conversation/config-snapshot.ts";
import { encodeMessage } from "../../conversation/message-file-format.ts";
import { parseJsonOrThrow } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { ConfigSnapshot } from "../../schema/agent-event.ts";
import { check } from "../../schema/check.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { EditResult } from "../../store/transcript/archive.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { checkMessages } from "../interop/saved-messages.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { getAgentId } from "../runs/agent-id.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { preloadSession, readSessionMessages, replaceMessages } from "./edit-session.ts";

/** The state of an agent in a portable form, from which it can continue here or elsewhere (HITL-01, HITL-02). */
export type AgentSnapshot = {
  readonly sessionId: string;
  readonly agentId: string;
  /** The newest loop; absent if the session has none. */
  readonly lastLoopId?: string;
  /** The whole conversation, in order. */
  readonly messages: readonly AgentMessage[];
  /** The configuration of the agent, without keys. */
  readonly config?: ConfigSnapshot;
};

export async function createCheckpoint(link: ClientLink, session: string): Promise<AgentSnapshot> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const messages = await readSessionMessages(link, session);
    const { lastLoopId } = record;
    const definition = await transcript.readDefinition(record.definitionHash);
    return {
      sessionId: session,
      agentId: getAgentId(record),
      ...omitUndefined({ lastLoopId }),
      messages,
      ...(definition === undefined ? {} : { config: buildConfigSnapshot(definition, record.definitionHash) }),
    };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** Restores a checkpoint in its own session. Later messages stay on their branch. */
export async function restoreCheckpoint(
  link: ClientLink,
  session: string,
  snapshot: AgentSnapshot,
): Promise<EditResult> {
  if (snapshot.sessionId !== session) {
    throw new HoldfastError(
      "input-invalid",
      `The checkpoint belongs to session ${snapshot.sessionId}, not to ${session}: ` +
        "create a new session from it with `holdfast.sessions.resume`.",
      { session },
    );
  }
  return await replaceMessages(link, session, snapshot.messages);
}

/** Creates a session of the same agent that continues from the checkpoint, on any machine: a branch after its last loop. */
export async function resumeSnapshot(
  link: ClientLink,
  snapshot: AgentSnapshot,
  options: { readonly agent: AgentDefinitionInput; readonly session?: string },
): Promise<string> {
  const session = resolveSessionId(options.session);
  const { messages, lastLoopId, agentId } = snapshot;
  await preloadSession(link, session, options.agent, messages, {
    ...omitUndefined({ parentLoopId: lastLoopId }),
    // In checkpoints of older releases this field holds the agent's name.
    ...(z.uuid().safeParse(agentId).success ? { agentId } : {}),
  });
  return session;
}

const SnapshotSchema = z.object({
  sessionId: z.string(),
  agentId: z.string(),
  lastLoopId: z.string().optional(),
  messages: z.array(z.unknown()),
  config: ConfigSnapshot.optional(),
});

/** Writes a snapshot as JSON, readable only by the user. Fails if the folder does not exist. */
export async function saveSnapshot(snapshot: AgentSnapshot, file: string): Promise<void> {
  const messages = snapshot.messages.map(encodeMessage);
  const text = `${JSON.stringify({ ...snapshot, messages }, null, 2)}\n`;
  await writeFile(file, text, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw new HoldfastError(
      "input-invalid",
      `The checkpoint cannot be written to ${file}: ${error.message}. Specify a file in a folder that exists.`,
      { cause: error },
    );
  });
}

/** Reads a snapshot. Fails if the file cannot be read or is no snapshot. */
export async function loadSnapshot(file: string): Promise<AgentSnapshot> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw createSnapshotError(file, error.message, error);
  });
  const value = parseJsonOrThrow(text, (reason) => createSnapshotError(file, reason));
  const checked = check(SnapshotSchema, value, "checkpoint");
  if (!checked.ok) throw createSnapshotError(file, checked.problems.join("; "));
  const { messages, lastLoopId, config, ...rest } = checked.value;
  return {
    ...rest,
    messages: checkMessages(messages),
    ...omitUndefined({ lastLoopId, config }),
  };
}

function createSnapshotError(file: string, reason: string, cause?: unknown): HoldfastError {
  return new HoldfastError("input-invalid", `${file} cannot be read as a checkpoint: ${reason}`, {
    problems: [reason],
    cause,
  });
}
