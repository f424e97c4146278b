import { SegmentWriter } from "./segment-writer.ts";

/** The maximum number of files that stay open for the next batch. */
const MAX_OPEN = 64;

/** The writers of active sessions. */
export class SegmentWriters {
  readonly #folderOf: (session: string) => string;
  /** Ordered by use, the most recently used last. */
  readonly #writers = new Map<string, SegmentWriter>();

  constructor(folderOf: (session: string) => string) {
    this.#folderOf = folderOf;
  }

  /** Returns a session's writer, for the only current user of the session. */
  async getWriter(session: string): Promise<SegmentWriter> {
    const writer = this.#writers.get(session) ?? new SegmentWriter(this.#folderOf(session));
    this.#writers.delete(session);
    this.#writers.set(session, writer);
    const [oldest] = this.#writers;
    if (this.#writers.size > MAX_OPEN && oldest !== undefined) {
      this.#writers.delete(oldest[0]);
      await oldest[1].close();
    }
    return writer;
  }

  getUsedAtMs(session: string): number {
    return this.#writers.get(session)?.usedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  async close(session: string): Promise<void> {
    const writer = this.#writers.get(session);
    this.#writers.delete(session);
    await writer?.close();
  }

  async closeAll(): Promise<void> {
    for (const session of [...this.#writers.keys()]) await this.close(session);
  }
}
