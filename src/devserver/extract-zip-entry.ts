import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
/** The end record has 22 bytes. A comment of at most 65,535 bytes can follow it. */
const LONGEST_END_BYTES = 22 + 65_535;
const METHOD_STORED = 0;
const METHOD_DEFLATED = 8;

interface Entry {
  readonly method: number;
  readonly packedBytes: number;
  readonly localOffset: number;
}

/**
 * Writes one entry of a zip archive to a file.
 *
 * Supports the features that wheels use: stored or deflated entries, no encryption, no zip64. It does not verify checksums.
 */
export async function extractZipEntry(archive: string, name: string, target: string): Promise<void> {
  const handle = await open(archive, "r");
  try {
    const entry = await findEntry(handle, name);
    const local = await readBytes(handle, entry.localOffset, 30);
    if (local.readUInt32LE(0) !== LOCAL_ENTRY) throw new Error("damaged zip archive: no local header");
    const start = entry.localOffset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
    const { method } = entry;
    if (method !== METHOD_STORED && method !== METHOD_DEFLATED)
      throw new Error(`unknown zip method ${method}`);
    const packed = createReadStream(archive, { start, end: start + entry.packedBytes - 1 });
    const out = createWriteStream(target, { flags: "wx" });
    if (method === METHOD_STORED) await pipeline(packed, out);
    else await pipeline(packed, createInflateRaw(), out);
  } finally {
    await handle.close();
  }
}

async function findEntry(handle: FileHandle, name: string): Promise<Entry> {
  const { size } = await handle.stat();
  const tailBytes = Math.min(size, LONGEST_END_BYTES);
  const tail = await readBytes(handle, size - tailBytes, tailBytes);
  let end = tail.length - 22;
  while (end >= 0 && tail.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0) throw new Error("not a zip archive");
  const directory = await readBytes(handle, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === DIRECTORY_ENTRY; ) {
    const nameBytes = directory.readUInt16LE(at + 28);
    if (directory.toString("utf8", at + 46, at + 46 + nameBytes) === name) {
      return {
        method: directory.readUInt16LE(at + 10),
        packedBytes: directory.readUInt32LE(at + 20),
        localOffset: directory.readUInt32LE(at + 42),
      };
    }
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  throw new Error(`the zip archive does not contain ${name}`);
}

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  if (bytesRead !== length) throw new Error("damaged zip archive: it is truncated");
  return buffer;
}
