/** The position of the old text, and its replacement. `offset` is valid only when `count` is 1. */
export type TextMatch = {
  readonly count: number;
  readonly offset: number;
  readonly oldBytes: Buffer;
  readonly replacement: Buffer;
};

/** Locates the old text. A model writes "\n" where the file may have "\r\n"; then both texts get the file's line ends. */
export function locateText(content: Buffer, oldText: string, newText: string): TextMatch {
  const exact = findMatch(content, oldText, newText);
  if (exact.count > 0 || oldText.includes("\r") || !oldText.includes("\n")) return exact;
  return findMatch(content, toCrLf(oldText), toCrLf(newText));
}

export function replaceText(content: Buffer, { offset, oldBytes, replacement }: TextMatch): Buffer {
  return Buffer.concat([
    content.subarray(0, offset),
    replacement,
    content.subarray(offset + oldBytes.length),
  ]);
}

/** Finds the lines of the file that the model probably meant by the old text. */
export function findSimilar(content: string, oldText: string): string | undefined {
  const wanted = splitLines(oldText.trim());
  const first = wanted[0]?.trim() ?? "";
  if (first === "") return undefined;
  const lines = splitLines(content);
  const start = lines.findIndex((line) => line.includes(first));
  return start === -1 ? undefined : lines.slice(start, start + wanted.length + 1).join("\n");
}

/** Counts lines. A final line end does not begin another line. */
export function countLines(text: string): number {
  return splitLines(text).length;
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Finds the old text. Overlapping matches count separately, because the choice between them would be ambiguous. */
function findMatch(content: Buffer, oldText: string, newText: string): TextMatch {
  const old = Buffer.from(oldText, "utf8");
  const first = content.indexOf(old);
  let count = 0;
  for (let at = first; at !== -1; at = content.indexOf(old, at + 1)) count += 1;
  return { count, offset: first, oldBytes: old, replacement: Buffer.from(newText, "utf8") };
}

function toCrLf(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}
