import { SegmentWriter } from "./segment-writer.ts";

/** Files that are kept open for the next batch. */
const MAX_OPEN = 64;

/** The writers of the sessions that are shown just now. */
export class SegmentWriters {
  readonly #folderOf: (session: string) => string;
  /** The one that was used last comes last. */
  readonly #writers = new Map<string, SegmentWriter>();

  constructor(folderOf: (session: string) => string) {
    this.#folderOf = folderOf;
  }

  /** A session's writer, for one who has the session to itself. */
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
