import {
  type AgentDefinitionInput,
  type Entry,
  type Holdfast,
  HoldfastError,
  type MessageMetadata,
  type Session,
  type SessionEvent,
  type SessionResult,
} from "../../../client/index.ts";

export type Ask = {
  readonly session: string;
  readonly agent: AgentDefinitionInput;
  readonly prompt: string;
  /** The prompt's id, by which a later process finds out that it has been sent. */
  readonly messageId: string;
  readonly metadata?: MessageMetadata;
  readonly title?: string;
};

/** Who watches a run, and may stop it. */
export type Watcher = {
  /** Ends the wait; the run continues. */
  readonly signal?: AbortSignal | undefined;
  readonly onSession?: ((session: Session) => void) | undefined;
  readonly onEvent?: ((event: SessionEvent) => void) | undefined;
};

/**
 * Sends a prompt and waits for the answer, or picks up where an earlier process has left: a prompt is sent once, a run that is
 * open is followed, one that has ended early is continued, and an answer that is there is returned.
 *
 * @returns `undefined` if the session has gone on: another prompt follows this one.
 */
export async function askAgent(
  holdfast: Holdfast,
  ask: Ask,
  watcher: Watcher,
): Promise<SessionResult | undefined> {
  const prompts = await listPrompts(holdfast, ask.session);
  const sent = prompts.findIndex(({ messageId }) => messageId === ask.messageId);
  if (sent !== -1 && sent < prompts.length - 1) return undefined;
  const session = await openRun(holdfast, ask, sent !== -1);
  watcher.onSession?.(session);
  const options = watcher.signal === undefined ? {} : { signal: watcher.signal };
  const result = session.tryResult(options);
  result.catch(() => undefined);
  for await (const event of session.events(options)) watcher.onEvent?.(event);
  return await result;
}

/** Returns the run that answers the prompt. */
async function openRun(
  holdfast: Holdfast,
  { session: id, agent, prompt, messageId, metadata, title }: Ask,
  isSent: boolean,
): Promise<Session> {
  const session = holdfast.session(id);
  const status = await session.status().catch(ignoreUnknownSession);
  // The run of a prompt that no worker has stored yet is open as well.
  if (status?.open === true) return session;
  if (isSent) return status?.outcome?.type === "answered" ? session : await session.continue();
  return await holdfast.start({
    session: id,
    agent,
    prompt,
    messageId,
    ...(metadata === undefined ? {} : { metadata }),
    ...(title === undefined ? {} : { title }),
  });
}

/** Lists the prompts of a session that were sent under an id; none of a session that does not exist. */
export async function listPrompts(holdfast: Holdfast, session: string): Promise<readonly Entry[]> {
  const entries = await holdfast.session(session).messages.list().catch(ignoreUnknownSession);
  return (entries ?? []).filter(({ origin, messageId }) => origin === "prompt" && messageId !== undefined);
}

function ignoreUnknownSession(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === "session-unknown") return undefined;
  throw error;
}
