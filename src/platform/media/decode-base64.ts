// No repeated group: a regular expression with one has no stack for the megabytes of an image.
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64. Encoders differ in line breaks, padding and alphabet; for any other text it returns `undefined`. */
export function decodeBase64(text: string): Buffer | undefined {
  const plain = text
    .replace(/[\r\n]/g, "")
    .replace(/-/g, "+")
    .replace(/_/g, "/");
  const padded = plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
  return BASE64.test(padded) ? Buffer.from(padded, "base64") : undefined;
}
