/** What a file defines. */
export type Definition = {
  readonly name: string;
  readonly kind: string;
  /** Counts from 1. */
  readonly line: number;
  /** Its first line. */
  readonly signature: string;
};

export type FileSymbols = {
  readonly definitions: readonly Definition[];
  /** What it imports, as it is written there. */
  readonly imports: readonly string[];
};

const MAX_SIGNATURE_CHARS = 120;

/** Shortens the line of a definition to what says what it is. */
export function toSignature(line: string): string {
  const text = line
    .trim()
    .slice(0, 2 * MAX_SIGNATURE_CHARS)
    .replace(/\s*[{:(]?\s*$/, "");
  return text.length > MAX_SIGNATURE_CHARS ? `${text.slice(0, MAX_SIGNATURE_CHARS)}...` : text;
}
