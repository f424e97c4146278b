import { truncateForPreview } from "./preview.ts";
import { KEY_BLOCKS, SECRET_FLAG, SECRET_SHAPES } from "./secret-shapes.ts";

export const REDACTED = "***";

/**
 * Everything short that leaves a conversation for a screen passes through here; the time grows with the text alone.
 * Of megabytes without a blank the shapes give up: whoever has them shows their beginning.
 */
export function redact(text: string): string {
  return hideShapes(hideShapes(text, KEY_BLOCKS), SECRET_SHAPES);
}

function hideShapes(text: string, shapes: readonly RegExp[]): string {
  return shapes.reduce((cleaned, shape) => cleaned.replace(shape, maskMatch), text);
}

/** Shapes without a group are given the place of what was found instead, which is a number. */
function maskMatch(_found: string, kept: unknown): string {
  return typeof kept === "string" ? kept + REDACTED : REDACTED;
}

/** What `redact` would hide of a text, piece by piece. */
export function findSecrets(text: string): readonly string[] {
  return [...KEY_BLOCKS, ...SECRET_SHAPES].flatMap((shape) =>
    [...text.matchAll(shape)].map(([found, kept]) => (kept === undefined ? found : found.slice(kept.length))),
  );
}

/** Words of one command, where a flag and the secret behind it are two. */
export function redactCommandWords(words: readonly string[]): readonly string[] {
  return words.map((word, index) =>
    SECRET_FLAG.test(words[index - 1] ?? "") && !word.startsWith("-") ? REDACTED : redact(word),
  );
}

/** What is looked through for keys, in characters: some times as much as is ever shown. */
const READ_CHARS = 64 * 1024;

/** The beginning of a text of any length, without what looks like a key, cut as a preview is. */
export function redactPreview(text: string, maxBytes: number): string {
  return truncateForPreview(redact(text.slice(0, READ_CHARS)), maxBytes);
}

/** A text of any length, all of it, without what looks like a key. */
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

/** Behind a line where there is one, so that no key is cut in two. */
function findPartEnd(text: string, begin: number): number {
  const end = begin + READ_CHARS;
  if (end >= text.length) return text.length;
  for (const border of ["\n", " "]) {
    const at = text.lastIndexOf(border, end - 1);
    if (at > begin) return at + 1;
  }
  return end;
}
