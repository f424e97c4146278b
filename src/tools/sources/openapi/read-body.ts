import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/** We ask for no encoding, but servers compress unasked. Undefined for an encoding that nobody knows. */
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
  // The error reaches the reader through the decoder; the callback only keeps it from being unhandled.
  return pipeline(body, create(), () => {});
}

export type BoundedBody = { readonly bytes: Uint8Array; readonly isCut: boolean };

/** As much as is wanted; what comes behind it is not waited for. */
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
