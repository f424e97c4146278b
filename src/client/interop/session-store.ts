import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RecordedSession } from "../../schema/recorded-session.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { sessionFromJson, sessionToJson } from "./saved-session.ts";

/** The storage of saved sessions. An application may provide its own (SES-17, SES-21). */
export interface SessionStore {
  /** Stores a session, and replaces an earlier version of it. */
  save(session: RecordedSession): Promise<void>;
  /** Reads one session. Fails if the store does not have it. */
  load(id: string): Promise<RecordedSession>;
  /** Returns the newest id first. */
  listIds(): Promise<readonly string[]>;
  /** Reads every session of an agent, the newest first. */
  listForAgent(agentId: string): Promise<readonly RecordedSession[]>;
  /** Deletes one session. Fails if the store does not have it. */
  delete(id: string): Promise<void>;
}

/** The age at which a lock counts as abandoned if its process cannot be checked. */
const STALE_LOCK_MS = 30_000;

/**
 * Stores one file per session in one folder, without an index (SES-16, SES-18). A writer holds a lock beside the file; a
 * second writer fails at once. Readers need no lock, because a complete file replaces the old one atomically.
 */
export class FileSessionStore implements SessionStore {
  /** The folder of the files. It is created when the first session is saved. */
  readonly folder: string;

  /** Opens a store in a folder, which need not exist. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Writes `<id>.json`. Fails if another writer holds the session's lock. */
  async save(session: RecordedSession): Promise<void> {
    const file = this.#filePath(session.sessionId);
    const text = sessionToJson(session);
    await mkdir(this.folder, { recursive: true });
    const releaseLock = await this.#acquireLock(session.sessionId, `${file}.lock`);
    const aside = `${file}.${randomUUID()}.tmp`;
    try {
      await writeFile(aside, text, { mode: 0o600, flush: true });
      await rename(aside, file);
    } finally {
      await rm(aside, { force: true });
      await releaseLock();
    }
  }

  /** Reads `<id>.json`. Fails if the file is absent or invalid. */
  async load(id: string): Promise<RecordedSession> {
    try {
      return sessionFromJson(await readFile(this.#filePath(id), "utf8"));
    } catch (error) {
      throw isMissing(error) ? this.#createUnknownError(id) : error;
    }
  }

  async listIds(): Promise<readonly string[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
    const dated = await Promise.all(
      ids.map(async (id) => ({ id, at: (await stat(this.#filePath(id)).catch(() => undefined))?.mtimeMs })),
    );
    return dated
      .filter((one): one is { id: string; at: number } => one.at !== undefined)
      .sort((one, other) => other.at - one.at || (one.id < other.id ? -1 : 1))
      .map(({ id }) => id);
  }

  /** Reads every session of an agent, the most recently written first. Reads all files of the folder. */
  async listForAgent(agentId: string): Promise<readonly RecordedSession[]> {
    const found: RecordedSession[] = [];
    for (const id of await this.listIds()) {
      const session = await this.load(id);
      if (session.agentId === agentId) found.push(session);
    }
    return found;
  }

  /** Deletes the file of a session. Fails if it is absent. */
  async delete(id: string): Promise<void> {
    try {
      await rm(this.#filePath(id));
    } catch (error) {
      throw isMissing(error) ? this.#createUnknownError(id) : error;
    }
  }

  /** Returns the file path of an id. Rejects ids that would lead out of the folder. */
  #filePath(id: string): string {
    if (id === "." || id === "..")
      throw new HoldfastError("input-invalid", `"${id}" is not a valid session id.`);
    return join(this.folder, `${resolveSessionId(id)}.json`);
  }

  async #acquireLock(id: string, lock: string): Promise<() => Promise<void>> {
    for (let attempt = 1; ; attempt++) {
      try {
        const handle = await open(lock, "wx", 0o600);
        await handle.writeFile(String(process.pid));
        await handle.close();
        return () => rm(lock, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        if (attempt > 1 || !(await isStale(lock))) throw this.#createLockedError(id, error);
        await rm(lock, { force: true });
      }
    }
  }

  #createLockedError(session: string, cause: unknown): HoldfastError {
    return new HoldfastError(
      "session-locked",
      `Session ${session} is locked: another process is saving it in ${this.folder}. Retry later.`,
      { session, cause },
    );
  }

  #createUnknownError(session: string): HoldfastError {
    return new HoldfastError("session-unknown", `There is no session ${session} in ${this.folder}.`, {
      session,
    });
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Tells whether the lock's process has died, or is on another machine and the lock is old. */
async function isStale(lock: string): Promise<boolean> {
  const pid = Number(await readFile(lock, "utf8").catch(() => ""));
  const stats = await stat(lock).catch(() => undefined);
  if (stats === undefined) return true;
  if (Number.isInteger(pid) && pid > 0) {
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ESRCH";
    }
  }
  return Date.now() - stats.mtimeMs > STALE_LOCK_MS;
}
