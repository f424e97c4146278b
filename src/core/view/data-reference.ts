// The transcript stores the bytes of images and files once each, under their hash. Where a message does not need the bytes,
// a reference stands in their place. The colons make it distinct from every base64 text.

/** The bytes of a part that are stored elsewhere: their SHA-256 in hex, and their number. */
export type DataReference = { readonly hash: string; readonly bytes: number };

const REFERENCE = /^stored:([0-9a-f]{64}):(\d+)$/;

export function formatDataReference({ hash, bytes }: DataReference): string {
  return `stored:${hash}:${bytes}`;
}

/** Returns `undefined` for base64. */
export function parseDataReference(data: string): DataReference | undefined {
  const [, hash, bytes] = data.length > 120 ? [] : (REFERENCE.exec(data) ?? []);
  return hash === undefined ? undefined : { hash, bytes: Number(bytes) };
}

/** Counts the bytes that base64, or a reference, stands for. */
export function countDataBytes(data: string): number {
  const reference = parseDataReference(data);
  if (reference !== undefined) return reference.bytes;
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}
