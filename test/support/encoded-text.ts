/** A word as bytes may hold it: as it is, in UTF-16, and in base64 wherever in a longer text it begins. */
function listEncodings(plainText: string): readonly Buffer[] {
  const bytes = Buffer.from(plainText);
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // Without the characters that neighbours have a part in.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [bytes, Buffer.from(plainText, "utf16le"), ...within.map((text) => Buffer.from(text))];
}

/** Whether bytes hold a word in any of its forms. */
export function containsText(bytes: Buffer, text: string): boolean {
  return listEncodings(text).some((form) => bytes.includes(form));
}
