import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The record of the server that uses a data folder. Two servers must never share one SQLite file. */
export interface ServerRecord {
  readonly pid: number;
  readonly address: string;
  readonly uiUrl: string;
}

const RECORD_FILE = "server.json";

/** Returns undefined if the record is absent or unreadable. */
export async function readRecord(dataDir: string): Promise<ServerRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(join(dataDir, RECORD_FILE), "utf8"));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRecord(dataDir: string, record: ServerRecord): Promise<void> {
  const draft = join(dataDir, `${RECORD_FILE}.${process.pid}`);
  await writeFile(draft, JSON.stringify(record));
  await rename(draft, join(dataDir, RECORD_FILE));
}

function isRecord(value: unknown): value is ServerRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    "pid" in value &&
    Number.isInteger(value.pid) &&
    "address" in value &&
    typeof value.address === "string" &&
    "uiUrl" in value &&
    typeof value.uiUrl === "string"
  );
}
