import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { DeltaBuffer } from "./delta-buffer.ts";
import type { LineCodec } from "./line-codec.ts";
import { SegmentReader } from "./segment-reader.ts";
import type { SegmentWriter } from "./segment-writer.ts";
import { getSegmentPath, ignoreMissing, listSegments } from "./segments.ts";

/**
 * Removes the files of a stream in which all deltas are completed. If the newest is one of them, it is sealed first.
 *
 * @returns Whether the stream is empty.
 */
export async function cleanUpStream(
  folder: string,
  codec: LineCodec,
  writer: SegmentWriter,
): Promise<boolean> {
  const before = await inspectStream(folder, codec);
  if (before.isNewestCompleted) await writer.seal();
  // Deltas that arrived before the seal are checked again.
  const { bases, heldBases, isNewestCompleted, isNewestEmpty } = before.isNewestCompleted
    ? await inspectStream(folder, codec)
    : before;
  for (const base of bases.slice(0, -1)) {
    if (!heldBases.has(base)) await ignoreMissing(unlink(getSegmentPath(folder, base)));
  }
  return heldBases.size === 0 && (isNewestEmpty || isNewestCompleted);
}

type StreamState = {
  readonly bases: readonly number[];
  /** The files with deltas that are not completed. */
  readonly heldBases: ReadonlySet<number>;
  /** The newest file is not empty, and all of its deltas are completed. */
  readonly isNewestCompleted: boolean;
  readonly isNewestEmpty: boolean;
};

async function inspectStream(folder: string, codec: LineCodec): Promise<StreamState> {
  const bases = await listSegments(folder);
  const buffer = new DeltaBuffer();
  let isNewestEmpty = true;
  for (const base of bases) {
    const reader = await SegmentReader.open(folder, base, codec);
    try {
      isNewestEmpty = true;
      for (
        let read = await reader?.read();
        read !== undefined && read.length > 0;
        read = await reader?.read()
      ) {
        isNewestEmpty = false;
        for (const one of read) buffer.add(one);
      }
    } finally {
      await reader?.close();
    }
  }
  const held = new Set(buffer.deltas.map(({ offset }) => bases.findLast((base) => base < offset) ?? 0));
  const newest = bases.at(-1);
  const isNewestOver = newest !== undefined && !isNewestEmpty && !held.has(newest);
  return { bases, heldBases: held, isNewestCompleted: isNewestOver, isNewestEmpty };
}

/** Removes a folder atomically for other processes. */
export async function removeFolder(folder: string): Promise<void> {
  const gone = `${folder}.gone-${randomUUID()}`;
  await ignoreMissing(rename(folder, gone));
  await rm(gone, { recursive: true, force: true });
}

/** The age of streams to remove. No announcement completes the deltas of a run that was ended externally. */
const OLD_MS = 7 * 24 * 60 * 60 * 1000;

/** Removes streams without recent writes. */
export async function sweepStreams(live: string): Promise<void> {
  for (const name of (await ignoreMissing(readdir(live))) ?? []) {
    // The marks of watchers expire by themselves.
    if (name.startsWith(".")) continue;
    const path = join(live, name);
    const newest = (await listSegments(path).catch(() => [])).at(-1);
    const times = [path, ...(newest === undefined ? [] : [getSegmentPath(path, newest)])];
    const stats = await Promise.all(times.map((one) => ignoreMissing(stat(one))));
    const touched = stats.reduce((last, one) => Math.max(last, one?.mtimeMs ?? 0), 0);
    if (touched > 0 && Date.now() - touched > OLD_MS) await removeFolder(path);
  }
}
