import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const BLOCK = 512;

/** Writes one file of a gzipped tar archive to a path. Rejects when it is not there, or larger than allowed. */
export async function extractTarEntry(
  archive: Readable,
  entry: string,
  path: string,
  maxBytes: number,
): Promise<void> {
  const unzipped = archive.on("error", (error) => unzipped.destroy(error)).pipe(createGunzip());
  let held = Buffer.alloc(0);
  /** Of the file under way, its padding included. */
  let left = 0;
  let read = 0;
  for await (const chunk of unzipped) {
    read += (chunk as Buffer).length;
    if (read > maxBytes) throw new Error(`the archive unpacks to more than ${maxBytes} bytes`);
    held = Buffer.concat([held, chunk as Buffer]);
    while (true) {
      const skipped = Math.min(left, held.length);
      held = held.subarray(skipped);
      left -= skipped;
      if (left > 0 || held.length < BLOCK) break;
      const { name, size } = headerOf(held.subarray(0, BLOCK));
      held = held.subarray(BLOCK);
      if (name === entry) return await write(unzipped, held, size, path);
      left = Math.ceil(size / BLOCK) * BLOCK;
    }
  }
  throw new Error(`the archive holds no ${entry}`);
}

async function write(from: Readable, first: Buffer, size: number, path: string): Promise<void> {
  const file = createWriteStream(path);
  const done = finished(file);
  done.catch(() => undefined);
  let left = size;
  const put = async (bytes: Buffer) => {
    const part = bytes.subarray(0, left);
    left -= part.length;
    if (!file.write(part)) await Promise.race([once(file, "drain"), done]);
  };
  await put(first);
  if (left > 0) {
    for await (const chunk of from) {
      await put(chunk as Buffer);
      if (left === 0) break;
    }
  }
  file.end();
  await done;
  if (left > 0) throw new Error("the archive is cut off");
}

function headerOf(block: Buffer): { readonly name: string; readonly size: number } {
  const text = (from: number, to: number) => block.toString("utf8", from, to).replace(/\0[\s\S]*$/, "");
  const size = Number.parseInt(text(124, 136).trim() || "0", 8);
  if (!Number.isFinite(size)) throw new Error("this is no tar archive");
  return { name: text(0, 100).replace(/^\.\//, ""), size };
}
