/**
 * Truncates a text to at most `maxBytes` of UTF-8 at a character boundary, and adds "..." if it was truncated (IRON-14).
 *
 * "café" at 4 gives "caf...".
 */
export function truncateForPreview(text: string, maxBytes: number): string {
  let bytes = 0;
  for (let i = 0; i < text.length; ) {
    const point = text.codePointAt(i) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return `${text.slice(0, i)}...`;
    i += point < 0x10000 ? 1 : 2;
  }
  return text;
}
