/** Of what is looked at, in bytes. */
const HEAD_BYTES = 16;

const IMAGE_SIGNATURES: readonly (readonly [type: string, beginning: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/**
 * What a picture is by its own bytes. A vendor refuses what is none, or another one than is said, and with it the
 * conversation that it has become part of.
 */
export function detectImageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString(
    "latin1",
  );
  return IMAGE_SIGNATURES.find(([, beginning]) => beginning.test(head))?.[0];
}
