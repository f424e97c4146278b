import type { Readable } from "node:stream";

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
