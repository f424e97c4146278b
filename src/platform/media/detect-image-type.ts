/** The number of bytes that are inspected. */
const HEAD_BYTES = 16;

const IMAGE_SIGNATURES: readonly (readonly [type: string, beginning: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/**
 * Detects the type of an image from its bytes. A vendor rejects an image of an invalid or wrong type, and with it every
 * later request of the conversation that contains it.
 */
export function detectImageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString(
    "latin1",
  );
  return IMAGE_SIGNATURES.find(([, beginning]) => beginning.test(head))?.[0];
}
