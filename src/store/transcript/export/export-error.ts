/** A file that cannot be imported: where it is wrong, and why. Nothing of it was written. */
export class ExportError extends Error {
  override readonly name = "ExportError";
  /** Counted from 1. */
  readonly line: number;

  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
    this.line = line;
  }
}
