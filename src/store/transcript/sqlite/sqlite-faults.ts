import { FencedError, StoreError, type StoreFault } from "../store-error.ts";

/** The advice for the user, by fault. */
const ADVICE: Record<StoreFault, string> = {
  busy: "Another process has locked it. Holdfast retries; if the problem persists, end that process.",
  full: "Free space on the disk (or raise the quota); the store then resumes by itself.",
  "read-only": "Make the file, its folder and its file system writable; the store then resumes by itself.",
  unreachable: "Check that the file and its folder exist, can be opened and are on a healthy disk.",
  damaged:
    "It was not changed. Make a copy, then restore a backup (`holdfast restore`) or use another home folder; `holdfast doctor` checks the file.",
  newer: "It was not changed. Run the newer version of Holdfast, or use another path.",
  behind: "Restore the transcript that belongs to this server's store (docs/operations.md).",
  ahead: "Restore the server's store that belongs to this transcript (docs/operations.md).",
  other: "Please report this with the text above.",
};

export function createStoreError(fault: StoreFault, path: string, what: string, cause?: unknown): StoreError {
  const message = `Transcript ${path}: ${what}. ${ADVICE[fault]}`;
  return cause === undefined ? new StoreError(fault, message) : new StoreError(fault, message, { cause });
}

/** Creates the error for a file that another connection locks for too long. */
export function createBusyError(path: string, busyMs: number, cause: unknown): StoreError {
  return createStoreError("busy", path, `the file stayed locked for ${busyMs} ms`, cause);
}

/** Converts an error of SQLite or the operating system. The store's own errors pass unchanged. */
export function toStoreError(error: unknown, path: string): Error {
  if (error instanceof StoreError || error instanceof FencedError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  const message = error instanceof Error ? error.message : String(error);
  if (isDamage(error, message))
    return createStoreError("damaged", path, `its content cannot be read: ${message}`, error);
  const fault = typeof code === "string" && code !== "" ? getFault(code) : getFaultOfMessage(message);
  if (fault !== undefined) return createStoreError(fault, path, message, error);
  return error instanceof Error ? error : new Error(message);
}

/**
 * Checks for damage: stored JSON that is invalid, and missing tables or columns in a file of a known version. Retries do
 * not help.
 */
function isDamage(error: unknown, message: string): boolean {
  return (
    error instanceof SyntaxError || /^no such (?:table|column|index)|^malformed database schema/.test(message)
  );
}

/** Extended result codes of SQLite begin with the name of the plain one. */
const FAULT_OF_CODE: readonly (readonly [prefix: string, fault: StoreFault])[] = [
  ["SQLITE_BUSY", "busy"],
  ["SQLITE_LOCKED", "busy"],
  ["SQLITE_PROTOCOL", "busy"],
  ["SQLITE_FULL", "full"],
  // The shared-memory file could not grow: the disk is full.
  ["SQLITE_IOERR_SHMSIZE", "full"],
  ["SQLITE_READONLY", "read-only"],
  ["SQLITE_CORRUPT", "damaged"],
  ["SQLITE_NOTADB", "damaged"],
  ["SQLITE_IOERR", "unreachable"],
  ["SQLITE_CANTOPEN", "unreachable"],
  ["SQLITE_", "other"],
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EROFS", "read-only"],
  ["EACCES", "read-only"],
  ["EPERM", "read-only"],
  ["ENOENT", "unreachable"],
  ["ENOTDIR", "unreachable"],
  ["EEXIST", "unreachable"],
  ["EISDIR", "unreachable"],
  ["EIO", "unreachable"],
];

function getFault(code: string): StoreFault | undefined {
  return FAULT_OF_CODE.find(([prefix]) => code.startsWith(prefix))?.[1];
}

/** libsql reports a failed open without a code, with SQLite's number at the end of the text. */
function getFaultOfMessage(message: string): StoreFault | undefined {
  const number = /Unable to open connection.*: (\d+)"\)/.exec(message)?.[1];
  if (number === undefined) return undefined;
  return number === "8" ? "read-only" : number === "5" ? "busy" : number === "26" ? "damaged" : "unreachable";
}
