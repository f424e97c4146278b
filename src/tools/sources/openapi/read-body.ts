import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/** Holdfast requests no encoding, but servers compress anyway. Returns undefined for an unknown encoding. */
export function decompress(body: Readable, encoding: string | string[] | undefined): Readable | undefined {
  const name = String(encoding ?? "")
    .trim()
    .toLowerCase();
  if (name === "" || name === "identity") return body;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : undefined;
  if (create === undefined) {
    body.on("error", () => {}).destroy();
    return undefined;
  }
  // The error reaches the reader through the decoder; the callback only prevents an unhandled error.
  return pipeline(body, create(), () => {});
}

export type BoundedBody = { readonly bytes: Uint8Array; readonly isCut: boolean };

/** Reads up to a maximum, and does not wait for the rest. */
export async function readBounded(body: Readable, maxBytes: number): Promise<BoundedBody> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part as Uint8Array);
    length += (part as Uint8Array).length;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(parts).subarray(0, maxBytes), isCut: length > maxBytes };
}
