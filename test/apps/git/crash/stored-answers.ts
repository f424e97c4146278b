import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, getMessageText } from "../../../../src/client/index.ts";
import { openTranscript } from "../../../../src/store/transcript/open-transcript.ts";
import { Database } from "../../../../src/store/transcript/sqlite/libsql.ts";
import type { Transcript } from "../../../../src/store/transcript/transcript.ts";
import type { StoredAnswers } from "./vendor.ts";

const MAX_SESSIONS = 100;

/**
 * Copies the transcript as a dead worker has left it, before its successor writes to it. A connection copies it and not the
 * files: a commit that the death has cut off can be whole in the file of the log, although no reader sees it.
 */
export function copyTranscript(home: string): { readonly atMs: number; readonly folder: string } {
  const folder = mkdtempSync(join(home, "death-"));
  const database = new Database(join(home, "transcript.db"));
  try {
    database.prepare("VACUUM INTO ?").run(join(folder, "transcript.db"));
  } finally {
    database.close();
  }
  return { atMs: Date.now(), folder };
}

/** Counts the answers in a copied transcript, of the sessions that began with the run; then removes the copy. */
export async function countAnswers(
  { atMs, folder }: ReturnType<typeof copyTranscript>,
  runBeganAtMs: number,
): Promise<StoredAnswers> {
  const transcript = await openTranscript({ path: join(folder, "transcript.db"), database: undefined });
  try {
    const sessions = await transcript.findSessions({ limit: MAX_SESSIONS });
    const counts = new Map<string, number>();
    for (const { id, createdAtMs } of sessions) {
      if (createdAtMs < runBeganAtMs) continue;
      const entries = await readAll(transcript, id);
      const answers = entries.filter(({ message }) => message.role === "assistant").length;
      counts.set(readFirstPrompt(entries), answers);
    }
    return { atMs, counts };
  } finally {
    await transcript.close();
    await rm(folder, { recursive: true });
  }
}

export async function readAll(transcript: Transcript, session: string): Promise<readonly Entry[]> {
  return await transcript.readEntries(session, "main", 0, Number.MAX_SAFE_INTEGER);
}

function readFirstPrompt(entries: readonly Entry[]): string {
  const message = entries.find((one) => one.message.role === "user")?.message;
  return message?.role === "user" ? getMessageText(message) : "";
}
