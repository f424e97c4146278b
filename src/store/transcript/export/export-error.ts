/** A file cannot be imported. Contains the line and the reason. Nothing was written. */
export class ExportError extends Error {
  override readonly name = "ExportError";
  /** Counted from 1. */
  readonly line: number;

  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
    this.line = line;
  }
}
