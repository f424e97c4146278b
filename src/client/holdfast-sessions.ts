import type { AgentDefinitionInput } from "../schema/definition.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { RecordedSession } from "../schema/recorded-session.ts";
import type { OpenFile } from "../store/transcript/export/import-file.ts";
import type { ClientLink } from "./connection/client-link.ts";
import type { ListOptions, SessionsPage } from "./read/list-sessions.ts";
import type { SearchHit, SearchOptions } from "./read/search-messages.ts";
import { resolveSessionId } from "./resolve-session-id.ts";
import type { AcceptResult } from "./runs/accept-definition.ts";
import { Session } from "./session.ts";
import type { AgentSnapshot } from "./sessions/checkpoint.ts";
import type { ImportOptions, ImportResult } from "./sessions/export-session.ts";
import type { RestoreSessionOptions } from "./sessions/restore-session.ts";

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
  async list(options?: ListOptions): Promise<SessionsPage> {
    const { listSessions } = await import("./read/list-sessions.ts");
    return listSessions(this.#link, options);
  }

  /**
   * Returns the id that a user's input means: an id, the beginning of one if it is unique, or `last` for the session that was
   * active last.
   */
  async find(reference: string): Promise<string> {
    const { findId } = await import("./read/find-session-id.ts");
    return findId(this.#link, reference, "session");
  }

  /** Finds messages that contain all words of the query. */
  async search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]> {
    const { searchMessages } = await import("./read/search-messages.ts");
    return searchMessages(this.#link, query, options);
  }

  /** Creates a session that begins with the given messages, before its first run. */
  async create(options: CreateSessionOptions): Promise<Session> {
    const { preloadSession } = await import("./sessions/edit-session.ts");
    const id = resolveSessionId(options.session);
    await preloadSession(this.#link, id, options.agent, options.messages);
    return new Session(this.#link, id);
  }

  /** Creates a session with the definition of another one, which it follows, and an empty conversation. */
  async createNext(previous: string, id?: string): Promise<Session> {
    const { createFollowingSession } = await import("./read/rotate-session.ts");
    return new Session(this.#link, await createFollowingSession(this.#link, resolveSessionId(previous), id));
  }

  /** Creates a session that follows this one if it has been idle for longer than `idleMs`; otherwise does nothing. */
  async rotateAfter(previous: string, idleMs: number): Promise<Session | undefined> {
    const { findCurrentSession } = await import("./read/rotate-session.ts");
    const { session, isNew } = await findCurrentSession(this.#link, resolveSessionId(previous), idleMs);
    return isNew ? new Session(this.#link, session) : undefined;
  }

  /** Imports what `session.export()` wrote: all of it, or nothing. @param file - A path, or a function that opens it. */
  async import(file: string | OpenFile, options?: ImportOptions): Promise<ImportResult> {
    const { importSessions } = await import("./sessions/export-session.ts");
    return importSessions(this.#link, file, options);
  }

  /** Accepts the agent that an imported session arrived with: runs may be started with it from then on. */
  async acceptDefinition(session: string): Promise<AcceptResult> {
    const { acceptDefinition } = await import("./runs/accept-definition.ts");
    return acceptDefinition(this.#link, resolveSessionId(session));
  }

  /** Imports a session from the sources' saved format. */
  async restore(saved: RecordedSession, options: RestoreSessionOptions): Promise<ImportResult> {
    const { restoreSession } = await import("./sessions/restore-session.ts");
    return restoreSession(this.#link, saved, options);
  }

  /** Creates a session that continues from a checkpoint of another one, on this machine or elsewhere. */
  async resume(snapshot: AgentSnapshot, options: ResumeOptions): Promise<Session> {
    const { resumeSnapshot } = await import("./sessions/checkpoint.ts");
    return new Session(this.#link, await resumeSnapshot(this.#link, snapshot, options));
  }
}
