import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const BLOCK_BYTES = 512;

/** Writes one file of a gzipped tar archive to a path. Rejects if the file is absent or larger than allowed. */
export async function extractTarEntry(
  archive: Readable,
  entry: string,
  path: string,
  maxBytes: number,
): Promise<void> {
  const unzipped = archive.on("error", (error) => unzipped.destroy(error)).pipe(createGunzip());
  let buffered = Buffer.alloc(0);
  /** The remaining bytes of the current file, including its padding. */
  let remaining = 0;
  let read = 0;
  for await (const chunk of unzipped) {
    read += (chunk as Buffer).length;
    if (read > maxBytes) throw new Error(`the archive unpacks to more than ${maxBytes} bytes`);
    buffered = Buffer.concat([buffered, chunk as Buffer]);
    while (true) {
      const skipped = Math.min(remaining, buffered.length);
      buffered = buffered.subarray(skipped);
      remaining -= skipped;
      if (remaining > 0 || buffered.length < BLOCK_BYTES) break;
      const { name, size } = parseHeader(buffered.subarray(0, BLOCK_BYTES));
      buffered = buffered.subarray(BLOCK_BYTES);
      if (name === entry) return await writeEntry(unzipped, buffered, size, path);
      remaining = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    }
  }
  throw new Error(`the archive does not contain ${entry}`);
}

async function writeEntry(from: Readable, first: Buffer, size: number, path: string): Promise<void> {
  const file = createWriteStream(path);
  const done = finished(file);
  done.catch(() => undefined);
  let remaining = size;
  const put = async (bytes: Buffer) => {
    const part = bytes.subarray(0, remaining);
    remaining -= part.length;
    if (!file.write(part)) await Promise.race([once(file, "drain"), done]);
  };
  await put(first);
  if (remaining > 0) {
    for await (const chunk of from) {
      await put(chunk as Buffer);
      if (remaining === 0) break;
    }
  }
  file.end();
  await done;
  if (remaining > 0) throw new Error("the archive is truncated");
}

function parseHeader(block: Buffer): { readonly name: string; readonly size: number } {
  const text = (from: number, to: number) => block.toString("utf8", from, to).replace(/\0[\s\S]*$/, "");
  const size = Number.parseInt(text(124, 136).trim() || "0", 8);
  if (!Number.isFinite(size)) throw new Error("this is not a tar archive");
  return { name: text(0, 100).replace(/^\.\//, ""), size };
}
