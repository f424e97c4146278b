import { type FileHandle, open } from "node:fs/promises";
import type { Delta, OffsetDelta } from "./stream.ts";

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Tells one file from another that has taken its name. */
export type Identity = string;

/** The whole lines of a file from an offset on, at the moment of reading; what is no delta is passed over. */
export async function* wholeLines(
  path: string,
  from: { readonly offset: number; readonly identity?: Identity | undefined },
): AsyncGenerator<OffsetDelta & { readonly identity: Identity }> {
  const file = await openIfThere(path);
  if (file === undefined) return;
  try {
    const { ino, birthtimeMs, size } = await file.stat();
    const identity = `${ino}:${birthtimeMs}`;
    const replaced = (from.identity !== undefined && from.identity !== identity) || size < from.offset;
    let offset = replaced ? 0 : from.offset;
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset + rest.length);
      if (bytesRead === 0) return;
      const fresh = chunk.subarray(0, bytesRead);
      if (!fresh.includes(NEWLINE)) {
        rest = Buffer.concat([rest, fresh]);
        continue;
      }
      const bytes = rest.length === 0 ? fresh : Buffer.concat([rest, fresh]);
      let begin = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
        const delta = deltaOf(bytes.subarray(begin, end));
        begin = end + 1;
        if (delta !== undefined) yield { offset: offset + begin, delta, identity };
      }
      offset += begin;
      rest = bytes.subarray(begin);
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A line that was cut off by the death of its writer, or an empty one, is no delta. */
function deltaOf(line: Buffer): Delta | undefined {
  if (line.length === 0) return undefined;
  try {
    const value = JSON.parse(line.toString("utf8")) as Delta | null;
    return typeof value?.session === "string" && typeof value.body?.type === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
