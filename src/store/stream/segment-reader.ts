import { type FileHandle, open } from "node:fs/promises";
import { type LineCodec, parseDelta } from "./line-codec.ts";
import { getSegmentPath, ignoreMissing, listSegments, SEAL_LINE } from "./segments.ts";
import type { OffsetDelta } from "./stream-hub.ts";

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Reads one file of a stream up to its current end. */
export class SegmentReader {
  readonly base: number;
  readonly #file: FileHandle;
  readonly #codec: LineCodec;
  /** The reader already has the deltas up to this offset. */
  readonly #from: number;
  /** The position of the next line. */
  #at: number;
  /** The offset at which the next file begins; known after the seal was read. */
  next: number | undefined;

  private constructor(base: number, file: FileHandle, codec: LineCodec, from: number, at: number) {
    this.base = base;
    this.#file = file;
    this.#codec = codec;
    this.#from = from;
    this.#at = at;
  }

  /** @returns Undefined if the file no longer exists. */
  static async open(
    folder: string,
    base: number,
    codec: LineCodec,
    from = base,
  ): Promise<SegmentReader | undefined> {
    const file = await ignoreMissing(open(getSegmentPath(folder, base), "r"));
    if (file === undefined) return undefined;
    const at = Math.max(0, from - base);
    // An offset of a removed file is after the end of the previous file, of which only the seal is needed.
    const isBehind = at > 0 && (await file.stat()).size <= at;
    return new SegmentReader(base, file, codec, from, isBehind ? 0 : at);
  }

  /** Reads some of the next deltas; empty at the current end. Lines that are not deltas are skipped. */
  async read(): Promise<readonly OffsetDelta[]> {
    const deltas: OffsetDelta[] = [];
    for (let size = CHUNK_BYTES; deltas.length === 0 && this.next === undefined; ) {
      const chunk = Buffer.allocUnsafe(size);
      const { bytesRead } = await this.#file.read(chunk, 0, size, this.#at);
      const bytes = chunk.subarray(0, bytesRead);
      const end = bytes.lastIndexOf(NEWLINE);
      if (end === -1 && bytesRead < size) return deltas;
      // The line is longer than the chunk.
      if (end === -1) size *= 2;
      else this.#parseLines(bytes.subarray(0, end + 1), deltas);
    }
    return deltas;
  }

  /** Checks whether the file was removed and ends without a seal. */
  async isDeleted(): Promise<boolean> {
    return (await this.#file.stat()).nlink === 0;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #parseLines(bytes: Buffer, deltas: OffsetDelta[]): void {
    let begin = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
      const line = bytes.toString("utf8", begin, end);
      begin = end + 1;
      const offset = this.base + this.#at + begin;
      if (line === SEAL_LINE) {
        this.next = offset;
        break;
      }
      const delta = line === "" ? undefined : parseDelta(line, this.#codec);
      if (delta !== undefined && offset > this.#from) deltas.push({ offset, delta });
    }
    this.#at += begin;
  }
}

/** Reads all current deltas of a stream after an offset. */
export async function* readDeltasAfter(
  folder: string,
  codec: LineCodec,
  from = 0,
): AsyncGenerator<OffsetDelta, void, void> {
  const bases = await listSegments(folder);
  const first = Math.max(
    0,
    bases.findLastIndex((base) => base <= from),
  );
  for (const base of bases.slice(first)) {
    const reader = await SegmentReader.open(folder, base, codec, from);
    try {
      for (
        let read = await reader?.read();
        read !== undefined && read.length > 0;
        read = await reader?.read()
      )
        yield* read;
    } finally {
      await reader?.close();
    }
  }
}
