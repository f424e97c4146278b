import type { FileHandle } from "node:fs/promises";
import { LineReader } from "../text/line-reader.ts";

/** The rest of a longer line is not kept. */
const MAX_LINE_BYTES = 8 * 1024;
/** The part of a file that is searched for lines. */
const MAX_SCANNED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A zero byte in the beginning makes a file binary, as for git. */
const BINARY_PROBE_BYTES = 8_000;

export type FileLine = { readonly line: number; readonly text: string; readonly isCut: boolean };

export type FileLines =
  | { readonly type: "binary" }
  | {
      readonly type: "text";
      readonly lines: readonly FileLine[];
      /** The number of lines, as far as the file was read. */
      readonly total: number;
      /** Whether the file is longer than the part that was read. */
      readonly isPartial: boolean;
    };

/** Reads lines `from` to `to` of an open file, with a bound on memory and time. */
export async function readLines(handle: FileHandle, from: number, to: number): Promise<FileLines> {
  const lines: FileLine[] = [];
  let total = 0;
  const reader = new LineReader(MAX_LINE_BYTES, (text, isCut) => {
    total += 1;
    if (total >= from && total <= to) lines.push({ line: total, text: text.replace(/\r$/, ""), isCut });
  });
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let position = 0;
  while (position < MAX_SCANNED_BYTES) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    if (position === 0 && buffer.subarray(0, Math.min(bytesRead, BINARY_PROBE_BYTES)).includes(0)) {
      return { type: "binary" };
    }
    if (bytesRead === 0) break;
    reader.push(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  reader.end();
  return { type: "text", lines, total, isPartial: position >= MAX_SCANNED_BYTES };
}
