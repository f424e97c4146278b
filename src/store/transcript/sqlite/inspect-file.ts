import { accessSync, closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  APPLICATION_ID,
  createNewerError,
  createUnreleasedError,
  LATEST_VERSION,
  UNRELEASED_VERSION,
} from "./migrations.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError, toStoreError } from "./sqlite-faults.ts";

/** SQLite's file header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

type FileHeader = { readonly version: number; readonly applicationId: number; readonly missingBytes: number };

/**
 * Inspects a file before SQLite may write to it, and throws for files that must not be changed: damaged, foreign or
 * newer files. An absent or empty file is new.
 */
export function inspectFile(path: string, access: "read" | "write"): "new" | "existing" {
  try {
    const header = readHeader(path);
    if (header === undefined) {
      if (access === "write") accessSync(dirname(path), constants.W_OK);
      return "new";
    }
    const missingBytes = countMissingBytes(path);
    if (missingBytes > 0) {
      throw createStoreError(
        "damaged",
        path,
        `the file is truncated: its last ${missingBytes} bytes are missing`,
      );
    }
    const { version, applicationId } = getFileSize(`${path}-wal`) > 0 ? readThroughWal(path) : header;
    if (applicationId !== APPLICATION_ID && (applicationId !== 0 || version !== 0)) {
      throw createStoreError("other", path, "the file is the SQLite database of another program");
    }
    if (version > LATEST_VERSION) throw createNewerError(path, version, LATEST_VERSION);
    if (version === UNRELEASED_VERSION) throw createUnreleasedError(path);
    if (access === "write") accessSync(path, constants.W_OK);
    return "existing";
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** Longer than a process needs between the writes of a checkpoint that change the size of the file. */
const SETTLE_MS = 50;

/**
 * Counts the bytes that a file lacks, whose end the write-ahead log does not have either. Another process may be moving
 * pages from the log to the file meanwhile: only what stays missing is missing.
 */
function countMissingBytes(path: string): number {
  return readSettled(
    () => readMissingBytes(path),
    () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLE_MS),
  );
}

/** Reads a number of missing bytes that is the same before and after a pause; 0 if it is not. */
export function readSettled(read: () => number, pause: () => void): number {
  const before = read();
  if (before === 0) return 0;
  pause();
  return read() === before ? before : 0;
}

function readMissingBytes(path: string): number {
  const missingBytes = readHeader(path)?.missingBytes ?? 0;
  return getFileSize(`${path}-wal`) === 0 ? missingBytes : 0;
}

function readHeader(path: string): FileHeader | undefined {
  const size = getFileSize(path);
  if (size === 0) return undefined;
  const bytes = Buffer.alloc(HEADER_BYTES);
  const file = openForInspection(path);
  if (!fstatSync(file).isFile()) throw createStoreError("unreachable", path, "this is not a regular file");
  const read = readSync(file, bytes, 0, HEADER_BYTES, 0);
  if (read < HEADER_BYTES || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    throw createStoreError("damaged", path, "the file does not begin like an SQLite database");
  }
  const pageSize = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16);
  // The page count is valid only if the change counter next to it matches.
  const pages = bytes.readUInt32BE(24) === bytes.readUInt32BE(92) ? bytes.readUInt32BE(28) : 0;
  return {
    version: bytes.readUInt32BE(60),
    applicationId: bytes.readUInt32BE(68),
    missingBytes: Math.max(0, pages * pageSize - size),
  };
}

/**
 * Files that this process has inspected, by device and inode. They stay open: closing a file releases all locks of the
 * process on it, including those of SQLite's connections (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
const openFiles = new Map<string, number>();

function openForInspection(path: string): number {
  for (const [name, file] of openFiles) {
    if (fstatSync(file).nlink > 0) continue;
    openFiles.delete(name);
    closeSync(file);
  }
  const known = openFiles.get(getFileId(statSync(path, { bigint: true })));
  if (known !== undefined) return known;
  const file = openSync(path, "r");
  openFiles.set(getFileId(fstatSync(file, { bigint: true })), file);
  return file;
}

const getFileId = ({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }) => `${dev}:${ino}`;

/** Reads the version through the write-ahead log, which takes precedence over the header. Read-only: nothing is written. */
function readThroughWal(path: string): { version: number; applicationId: number } {
  const sql = new SqliteConnection(getReadOnlyLocation(path));
  try {
    return {
      version: sql.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0,
      applicationId: sql.get<{ application_id: number }>("PRAGMA application_id")?.application_id ?? 0,
    };
  } finally {
    sql.close();
  }
}

function getFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function getReadOnlyLocation(path: string): string {
  return `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?mode=ro`;
}
