/** Encodes a text in all forms: unchanged, in UTF-16, and in base64 at every offset in a longer text. */
function listEncodings(plainText: string): readonly Buffer[] {
  const bytes = Buffer.from(plainText);
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // Without the characters that also depend on neighbouring bytes.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [bytes, Buffer.from(plainText, "utf16le"), ...within.map((text) => Buffer.from(text))];
}

/** Reports whether bytes contain a text in any of its forms. */
export function containsText(bytes: Buffer, text: string): boolean {
  return listEncodings(text).some((form) => bytes.includes(form));
}
