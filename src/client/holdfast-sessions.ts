import type { AgentDefinitionInput } from "../schema/definition.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { RecordedSession } from "../schema/recorded-session.ts";
import type { OpenFile } from "../store/transcript/export/import-file.ts";
import type { ClientLink } from "./connection/client-link.ts";
import { type ListOptions, listSessions, type SessionsPage } from "./read/list-sessions.ts";
import { createFollowingSession, findCurrentSession } from "./read/rotate-session.ts";
import { type SearchHit, type SearchOptions, searchMessages } from "./read/search-messages.ts";
import { resolveSessionId } from "./resolve-session-id.ts";
import { type AcceptResult, acceptDefinition } from "./runs/accept-definition.ts";
import { Session } from "./session.ts";
import { type AgentSnapshot, resumeSnapshot } from "./sessions/checkpoint.ts";
import { preloadSession } from "./sessions/edit-session.ts";
import { type ImportOptions, type ImportResult, importSessions } from "./sessions/export-session.ts";
import { type RestoreSessionOptions, restoreSession } from "./sessions/restore-session.ts";

/** A session that begins with given messages, before its first run. */
export type CreateSessionOptions = {
  readonly agent: AgentDefinitionInput;
  /** The messages that the conversation begins with. */
  readonly messages: readonly AgentMessage[];
  /** The id of the session to create; a generated one by default. */
  readonly session?: string;
};

/** Which agent continues from a snapshot, and in which session. */
export type ResumeOptions = {
  /** The definition of the agent that continues. */
  readonly agent: AgentDefinitionInput;
  /** The id of the session to create; a generated one by default. */
  readonly session?: string;
};

/** All sessions: finds them, and creates them by other means than a run. `holdfast.sessions`. */
export class Sessions {
  readonly #link: ClientLink;

  constructor(link: ClientLink) {
    this.#link = link;
  }

  /**
   * Lists sessions by their properties, in pages of 50 by default, the most recently active first. It asks both the transcript
   * and the server. Sessions that only the server has come first while they are open, and last when they have ended.
   */
  list(options?: ListOptions): Promise<SessionsPage> {
    return listSessions(this.#link, options);
  }

  /** Finds messages that contain all words of the query. */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]> {
    return searchMessages(this.#link, query, options);
  }

  /** Creates a session that begins with the given messages, before its first run. */
  async create(options: CreateSessionOptions): Promise<Session> {
    const id = resolveSessionId(options.session);
    await preloadSession(this.#link, id, options.agent, options.messages);
    return new Session(this.#link, id);
  }

  /** Creates a session with the definition of another one, which it follows, and an empty conversation. */
  async createNext(previous: string, id?: string): Promise<Session> {
    return new Session(this.#link, await createFollowingSession(this.#link, resolveSessionId(previous), id));
  }

  /** Creates a session that follows this one if it has been idle for longer than `idleMs`; otherwise does nothing. */
  async rotateAfter(previous: string, idleMs: number): Promise<Session | undefined> {
    const { session, isNew } = await findCurrentSession(this.#link, resolveSessionId(previous), idleMs);
    return isNew ? new Session(this.#link, session) : undefined;
  }

  /** Imports what `session.export()` wrote: all of it, or nothing. @param file - A path, or a function that opens it. */
  import(file: string | OpenFile, options?: ImportOptions): Promise<ImportResult> {
    return importSessions(this.#link, file, options);
  }

  /** Accepts the agent that an imported session arrived with: runs may be started with it from then on. */
  acceptDefinition(session: string): Promise<AcceptResult> {
    return acceptDefinition(this.#link, resolveSessionId(session));
  }

  /** Imports a session from the sources' saved format. */
  restore(saved: RecordedSession, options: RestoreSessionOptions): Promise<ImportResult> {
    return restoreSession(this.#link, saved, options);
  }

  /** Creates a session that continues from a checkpoint of another one, on this machine or elsewhere. */
  async resume(snapshot: AgentSnapshot, options: ResumeOptions): Promise<Session> {
    return new Session(this.#link, await resumeSnapshot(this.#link, snapshot, options));
  }
}
