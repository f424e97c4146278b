import { closeSync, openSync, writeSync } from "node:fs";

/** An event of a log file: output is being lost, or is written again. */
export type LogProblem =
  | { readonly type: "log-failed"; readonly file: string; readonly reason: string }
  | { readonly type: "log-restored"; readonly file: string; readonly lostBytes: number };

/** A failed file is retried with the first write after this time. */
const RETRY_MS = 1_000;

/**
 * A log whose failures never end the process. While the file cannot be written, for example on a full disk, output is
 * lost and counted; when it can be written again, the file records the number of lost bytes.
 */
export class LogFile {
  readonly #path: string;
  readonly #report: (trouble: LogProblem) => void;
  readonly #now: () => number;
  #file: number | undefined;
  #lostBytes = 0;
  #isLosing = false;
  #retryAtMs = 0;

  constructor(path: string, tell: (trouble: LogProblem) => void, now: () => number = Date.now) {
    this.#path = path;
    this.#report = tell;
    this.#now = now;
  }

  write(chunk: Buffer): void {
    if (this.#isLosing && this.#now() < this.#retryAtMs) {
      this.#lostBytes += chunk.length;
      return;
    }
    let written = 0;
    try {
      this.#file ??= openSync(this.#path, "a", 0o600);
      if (this.#isLosing) this.#writeGapNotice(this.#file);
      while (written < chunk.length) written += writeSync(this.#file, chunk, written);
    } catch (error) {
      this.#lostBytes += chunk.length - written;
      this.#retryAtMs = this.#now() + RETRY_MS;
      this.close();
      if (this.#isLosing) return;
      this.#isLosing = true;
      this.#report({ type: "log-failed", file: this.#path, reason: (error as Error).message });
    }
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // On a full disk, closing the file may fail too.
    }
  }

  #writeGapNotice(file: number): void {
    const lostBytes = this.#lostBytes;
    writeSync(file, `\n[${lostBytes} bytes of this log could not be written]\n`);
    this.#isLosing = false;
    this.#lostBytes = 0;
    this.#report({ type: "log-restored", file: this.#path, lostBytes });
  }
}

export function describeLogProblem(trouble: LogProblem): string {
  return trouble.type === "log-failed"
    ? `the log ${trouble.file} cannot be written (${trouble.reason}): its output is lost until the file can be written; the worker continues`
    : `the log ${trouble.file} is written again; ${trouble.lostBytes} bytes of it were lost`;
}
