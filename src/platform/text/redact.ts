import { truncateForPreview } from "./preview.ts";
import { KEY_BLOCKS, SECRET_FLAG, SECRET_SHAPES } from "./secret-shapes.ts";

export const REDACTED = "***";

/**
 * Hides text that looks like a key. Every short text that leaves a conversation for display passes through here. The time
 * is linear. The patterns fail on megabytes without a blank, so callers truncate such texts first.
 */
export function redact(text: string): string {
  return hideShapes(hideShapes(text, KEY_BLOCKS), SECRET_SHAPES);
}

function hideShapes(text: string, shapes: readonly RegExp[]): string {
  return shapes.reduce((cleaned, shape) => cleaned.replace(shape, maskMatch), text);
}

/** Masks a match. For patterns without a group, `kept` is the position of the match, a number. */
function maskMatch(_found: string, kept: unknown): string {
  return typeof kept === "string" ? kept + REDACTED : REDACTED;
}

/** Finds the parts of a text that `redact` hides. */
export function findSecrets(text: string): readonly string[] {
  return [...KEY_BLOCKS, ...SECRET_SHAPES].flatMap((shape) =>
    [...text.matchAll(shape)].map(([found, kept]) => (kept === undefined ? found : found.slice(kept.length))),
  );
}

/** Redacts the words of a command, in which a flag and its secret are two words. */
export function redactCommandWords(words: readonly string[]): readonly string[] {
  return words.map((word, index) =>
    SECRET_FLAG.test(words[index - 1] ?? "") && !word.startsWith("-") ? REDACTED : redact(word),
  );
}

/** The number of characters that are searched for keys: a multiple of what is ever displayed. */
const READ_CHARS = 64 * 1024;

/** Redacts the beginning of a text of any length and truncates it as a preview. */
export function redactPreview(text: string, maxBytes: number): string {
  return truncateForPreview(redact(text.slice(0, READ_CHARS)), maxBytes);
}

/** Redacts a whole text of any length. */
export function redactWhole(text: string): string {
  const blocksHidden = hideShapes(text, KEY_BLOCKS);
  const parts: string[] = [];
  for (let begin = 0; begin < blocksHidden.length; ) {
    const end = findPartEnd(blocksHidden, begin);
    parts.push(hideShapes(blocksHidden.slice(begin, end), SECRET_SHAPES));
    begin = end;
  }
  return parts.join("");
}

/** Finds the end of a part, after a line break if possible, so that no key is split. */
function findPartEnd(text: string, begin: number): number {
  const end = begin + READ_CHARS;
  if (end >= text.length) return text.length;
  for (const border of ["\n", " "]) {
    const at = text.lastIndexOf(border, end - 1);
    if (at > begin) return at + 1;
  }
  return end;
}
