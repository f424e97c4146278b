import type { AssistantMessage } from "../../../schema/message.ts";
import type { AnswerTotals, StoredAnswer } from "../suites.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { readByKeys } from "./many-rows.ts";
import { all, exec, get, json, type Work } from "./statement.ts";

// The answers of models that cells share.

/** How exact the time of the last use is: a use is written at most once a day. */
const USE_INTERVAL_MS = 24 * 60 * 60 * 1000;

type AnswerRow = { key: string; message: string; session: string; at_ms: number; used_at_ms: number };

/** The answers of some keys, and the keys whose time of use is to be written. */
export type FoundAnswers = { readonly answers: readonly StoredAnswer[]; readonly toTouch: readonly string[] };

export function* readAnswers(keys: readonly string[], atMs: number): Work<FoundAnswers> {
  const rows = yield* readByKeys<AnswerRow>(
    "SELECT key, message, session, at_ms, used_at_ms FROM answers WHERE key",
    keys,
  );
  return {
    answers: rows.map((row) => {
      const message = decryptColumn(row, "message", buildAssociatedData("answers.message", [row.key]));
      return {
        key: row.key,
        message: JSON.parse(message) as AssistantMessage,
        session: row.session,
        atMs: row.at_ms,
      };
    }),
    toTouch: rows.filter(({ used_at_ms }) => used_at_ms <= atMs - USE_INTERVAL_MS).map(({ key }) => key),
  };
}

/** Sets the time of the last use. It never moves back. */
export function* touchAnswers(keys: readonly string[], atMs: number): Work<void> {
  // In one order, so that two readers of the same answers do not wait for each other.
  for (const key of [...keys].sort()) {
    yield* exec("UPDATE answers SET used_at_ms = ? WHERE key = ? AND used_at_ms < ?", atMs, key, atMs);
  }
}

/** Stores an answer, unless there is one for its key. */
export function* putAnswer({ key, message, session, atMs }: StoredAnswer): Work<void> {
  const text = json(message);
  yield* exec(
    `INSERT INTO answers (key, message, session, at_ms, used_at_ms, bytes) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    key,
    markForEncryption(text, "answers.message", key),
    session,
    atMs,
    atMs,
    Buffer.byteLength(text),
  );
}

export function* countAnswers(): Work<AnswerTotals> {
  const row = yield* get<{ answers: number; bytes: number | null; oldest: number | null }>(
    "SELECT count(*) AS answers, sum(bytes) AS bytes, min(at_ms) AS oldest FROM answers",
  );
  const { answers = 0, bytes, oldest } = row ?? {};
  return { answers, bytes: bytes ?? 0, ...(oldest == null ? {} : { oldestAtMs: oldest }) };
}

export type AnswerPruning = {
  readonly unusedSinceMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly limit: number;
};

/** Deletes one page, the least recently used answers first. */
export function* pruneAnswers({
  unusedSinceMs,
  maxBytes,
  limit,
}: AnswerPruning): Work<{ deleted: number; bytes: number; done: boolean }> {
  const rows = yield* all<{ key: string; bytes: number; used_at_ms: number }>(
    "SELECT key, bytes, used_at_ms FROM answers ORDER BY used_at_ms, key LIMIT ?",
    limit,
  );
  let excess = maxBytes === undefined ? 0 : (yield* countAnswers()).bytes - maxBytes;
  const deleted: (typeof rows)[number][] = [];
  for (const row of rows) {
    const isUnused = unusedSinceMs !== undefined && row.used_at_ms < unusedSinceMs;
    if (!isUnused && excess <= 0) break;
    excess -= row.bytes;
    deleted.push(row);
  }
  for (const { key, used_at_ms } of deleted) {
    // Another process may have used it meanwhile.
    yield* exec("DELETE FROM answers WHERE key = ? AND used_at_ms = ?", key, used_at_ms);
  }
  return {
    deleted: deleted.length,
    bytes: deleted.reduce((sum, { bytes }) => sum + bytes, 0),
    done: deleted.length < limit,
  };
}
