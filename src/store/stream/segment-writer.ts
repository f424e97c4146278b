import { type FileHandle, open } from "node:fs/promises";
import { createFirstBase, getSegmentPath, listSegments, SEAL } from "./segments.ts";

/** The size at which a file is sealed, so that completed parts of a long stream can be removed. */
const SEGMENT_BYTES = 256 * 1024;
/** How often a folder may be removed during one write. */
const MAX_TRIES = 20;

type Segment = { readonly base: number; readonly file: FileHandle /** Known up to here. */; size: number };

/** Appends to a session's stream, concurrently with writers of other processes. Runs one operation at a time. */
export class SegmentWriter {
  readonly #folder: string;
  #segment: Segment | undefined;
  /** The time of the last append, by `performance.now()`. */
  usedAtMs = Number.NEGATIVE_INFINITY;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param text - Whole lines. An empty one is written first: a line that a dying process cut off damages no other. */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(`\n${text}`, "utf8");
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const segment = await this.#findNewest();
      const { seal, isIn } = await this.#write(segment, bytes);
      if (seal !== undefined) await this.#openNext(segment, seal);
      else if (isIn && segment.size > SEGMENT_BYTES) await this.seal();
      this.usedAtMs = performance.now();
      if (isIn) return;
    }
    throw new Error(`The folder ${this.#folder} was removed ${MAX_TRIES} times during a write`);
  }

  /** Seals the newest file. Resolves when the next one exists. */
  async seal(): Promise<void> {
    const segment = await this.#findNewest();
    const { seal } = await this.#write(segment, SEAL);
    if (seal !== undefined) await this.#openNext(segment, seal);
    await this.#findNewest();
  }

  async close(): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    await segment?.file.close();
  }

  /** @returns The end of the file's seal, if any, and whether the written bytes are before it. */
  async #write(segment: Segment, bytes: Buffer): Promise<{ seal: number | undefined; isIn: boolean }> {
    const { file, size: before } = segment;
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten < bytes.length) {
      throw new Error(`Only ${bytesWritten} of ${bytes.length} bytes were written to ${this.#folder}`);
    }
    const { size, nlink } = await file.stat();
    segment.size = size;
    if (size === before + bytes.length && bytes !== SEAL) {
      if (nlink > 0) return { seal: undefined, isIn: true };
      await this.close();
      return { seal: undefined, isIn: false };
    }
    // Other processes have written in the meantime, and one of them may have sealed the file.
    const fresh = await readBytes(file, before, size);
    const at = fresh.indexOf(SEAL);
    if (at === -1 && nlink === 0) {
      await this.close();
      return { seal: undefined, isIn: false };
    }
    const own = fresh.indexOf(bytes);
    const isIn = own !== -1 && (at === -1 || own <= at);
    return { seal: at === -1 ? undefined : before + at + SEAL.length, isIn };
  }

  async #findNewest(): Promise<Segment> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.#segment !== undefined) return this.#segment;
      const base = (await listSegments(this.#folder)).at(-1) ?? (await createFirstBase(this.#folder));
      await this.#open(base).catch((error: NodeJS.ErrnoException) => {
        // The folder was just removed.
        if (error.code !== "ENOENT") throw error;
      });
    }
    throw new Error(`The folder ${this.#folder} was removed ${MAX_TRIES} times while it was opened`);
  }

  async #openNext({ base, file }: Segment, seal: number): Promise<void> {
    this.#segment = undefined;
    await file.close();
    await this.#open(base + seal).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }

  async #open(base: number): Promise<void> {
    const file = await open(getSegmentPath(this.#folder, base), "a+", 0o600);
    const segment: Segment = { base, file, size: 0 };
    try {
      segment.size = (await file.stat()).size;
      const at = (await readBytes(file, 0, segment.size)).indexOf(SEAL);
      this.#segment = segment;
      if (at !== -1) await this.#openNext(segment, at + SEAL.length);
    } catch (error) {
      if (this.#segment === segment) this.#segment = undefined;
      await file.close().catch(() => undefined);
      throw error;
    }
  }
}

async function readBytes(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  let at = 0;
  while (at < bytes.length) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}
