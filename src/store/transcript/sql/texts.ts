import { all, exec, get, type Work } from "./statement.ts";

// Texts that no entry holds: what a loop was opened with, and what the parts of a job hand on. Who names one keeps it.

export function* nameText(owner: string, hash: string): Work<void> {
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
export function* dropUnnamed(hash: string, atMs: number): Work<void> {
  const held = yield* get(
    `SELECT 1 AS held FROM contents WHERE hash = ? AND (leased_until_ms >= ?
       OR EXISTS (SELECT 1 FROM text_names WHERE text_names.hash = contents.hash)
       OR EXISTS (SELECT 1 FROM entries WHERE entries.content = contents.hash))`,
    hash,
    atMs,
  );
  if (held === undefined) yield* exec("DELETE FROM contents WHERE hash = ?", hash);
  // Nothing but the lease is left: the next sweep finds it.
  else yield* exec("UPDATE contents SET named = 0 WHERE hash = ? AND leased_until_ms >= ?", hash, atMs);
}

/** Lets go of what an owner names; gives the hashes. */
export function* dropNames(owner: string, limit: number): Work<readonly string[]> {
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
export function textsNamedBy(body: object): readonly string[] {
  const { type, terms, questions } = body as Readonly<Record<string, unknown>>;
  const asked = type === "ToolExecutionEnd" && Array.isArray(questions) ? questions : [];
  const named = [
    type === "DefinitionChanged" ? terms : undefined,
    ...asked.flatMap((one: { question?: unknown; values?: unknown } | null) => [one?.question, one?.values]),
  ];
  return named.filter((hash) => typeof hash === "string");
}
