import { all, exec, get, type Work } from "./statement.ts";

// Texts that no entry holds: what a loop was opened with, and what the parts of a job hand on. Who names one keeps it.

export function* addTextOwner(owner: string, hash: string): Work<void> {
  yield* exec("INSERT INTO text_names (hash, owner) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, owner);
}

/** Deletes texts whose lease has run out, unless somebody names them. */
export function* sweepTexts(atMs: number, limit: number): Work<number> {
  const rows = yield* all<{ hash: string }>(
    `SELECT hash FROM contents WHERE named = 0 AND leased_until_ms < ?
       AND NOT EXISTS (SELECT 1 FROM text_names WHERE text_names.hash = contents.hash)
       AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.content = contents.hash) LIMIT ?`,
    atMs,
    limit,
  );
  for (const { hash } of rows) yield* exec("DELETE FROM contents WHERE hash = ?", hash);
  return rows.length;
}

/** Deletes a text that was named, if that was the last one to name it. A lease that runs still holds it. */
export function* deleteUnreferenced(hash: string, atMs: number): Work<void> {
  const isReferenced = yield* get(
    `SELECT 1 AS held FROM contents WHERE hash = ? AND (leased_until_ms >= ?
       OR EXISTS (SELECT 1 FROM text_names WHERE text_names.hash = contents.hash)
       OR EXISTS (SELECT 1 FROM entries WHERE entries.content = contents.hash))`,
    hash,
    atMs,
  );
  if (isReferenced === undefined) yield* exec("DELETE FROM contents WHERE hash = ?", hash);
  // Nothing but the lease is left: the next sweep finds it.
  else yield* exec("UPDATE contents SET named = 0 WHERE hash = ? AND leased_until_ms >= ?", hash, atMs);
}

/** Lets go of what an owner names; gives the hashes. */
export function* deleteTextOwners(owner: string, limit: number): Work<readonly string[]> {
  const rows = yield* all<{ hash: string }>(
    "SELECT hash FROM text_names WHERE owner = ? LIMIT ?",
    owner,
    limit,
  );
  for (const { hash } of rows) {
    yield* exec("DELETE FROM text_names WHERE owner = ? AND hash = ?", owner, hash);
  }
  return rows.map(({ hash }) => hash);
}

/** Hashes of the texts that an event names. What comes from a file may hold anything. */
export function listReferencedTexts(body: object): readonly string[] {
  const { type, terms, questions } = body as Readonly<Record<string, unknown>>;
  const userQuestions = type === "ToolExecutionEnd" && Array.isArray(questions) ? questions : [];
  const hashes = [
    type === "DefinitionChanged" ? terms : undefined,
    ...userQuestions.flatMap((one: { question?: unknown; values?: unknown } | null) => [
      one?.question,
      one?.values,
    ]),
  ];
  return hashes.filter((hash) => typeof hash === "string");
}
