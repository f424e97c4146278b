import { renewLease } from "./contents.ts";
import { all, exec, get, type Work } from "./statement.ts";

// Texts that are not entries: the terms of a loop, and texts that parts of a job pass on. A text with an owner is retained.

export function* addTextOwner(owner: string, hash: string): Work<void> {
  yield* exec("INSERT INTO text_owners (hash, owner) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, owner);
}

/** The owner of data that the text with this hash refers to. No id of a session or a job contains a slash. */
export function formatContentOwner(hash: string): string {
  return `contents/${hash}`;
}

/** Retains the parts of a message with the session that has received it. Their lease, which is the message's own, ends. */
export function* keepParts(session: string, hash: string): Work<void> {
  yield* addTextOwner(session, hash);
  yield* exec("UPDATE contents SET leased_until_ms = 0 WHERE hash = ?", hash);
}

/** Deletes texts with an expired lease and no reference. */
export function* sweepTexts(atMs: number, limit: number): Work<number> {
  const rows = yield* all<{ hash: string }>(
    `SELECT hash FROM contents WHERE is_referenced = 0 AND leased_until_ms < ?
       AND NOT EXISTS (SELECT 1 FROM text_owners WHERE text_owners.hash = contents.hash)
       AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.content = contents.hash) LIMIT ?`,
    atMs,
    limit,
  );
  for (const { hash } of rows) yield* deleteText(hash, atMs);
  return rows.length;
}

/** Deletes a text that has lost a reference, if no other reference and no valid lease exist. */
export function* deleteUnreferenced(hash: string, atMs: number): Work<void> {
  const isReferenced = yield* get(
    `SELECT 1 AS held FROM contents WHERE hash = ? AND (leased_until_ms >= ?
       OR EXISTS (SELECT 1 FROM text_owners WHERE text_owners.hash = contents.hash)
       OR EXISTS (SELECT 1 FROM entries WHERE entries.content = contents.hash))`,
    hash,
    atMs,
  );
  if (isReferenced === undefined) yield* deleteText(hash, atMs);
  // Only the lease remains: a later sweep deletes the text.
  else
    yield* exec("UPDATE contents SET is_referenced = 0 WHERE hash = ? AND leased_until_ms >= ?", hash, atMs);
}

/** Deletes a text, and the data that it alone refers to. */
function* deleteText(hash: string, atMs: number): Work<void> {
  yield* exec("DELETE FROM contents WHERE hash = ?", hash);
  const owner = formatContentOwner(hash);
  const data = yield* all<{ hash: string }>("SELECT hash FROM text_owners WHERE owner = ?", owner);
  if (data.length === 0) return;
  yield* exec("DELETE FROM text_owners WHERE owner = ?", owner);
  for (const one of data) yield* deleteUnreferenced(one.hash, atMs);
}

/** Deletes an owner's references and returns their hashes. */
export function* deleteTextOwners(owner: string, limit: number): Work<readonly string[]> {
  const rows = yield* all<{ hash: string }>(
    "SELECT hash FROM text_owners WHERE owner = ? LIMIT ?",
    owner,
    limit,
  );
  for (const { hash } of rows) {
    yield* exec("DELETE FROM text_owners WHERE owner = ? AND hash = ?", owner, hash);
  }
  return rows.map(({ hash }) => hash);
}

/** Ends an owner. Its texts keep a lease, for runs that have begun and have not received them yet. */
export function* releaseTexts(owner: string, atMs: number): Work<void> {
  for (;;) {
    const hashes = yield* deleteTextOwners(owner, RELEASE_PAGE);
    for (const hash of hashes) yield* renewLease(hash, atMs);
    if (hashes.length < RELEASE_PAGE) return;
  }
}

const RELEASE_PAGE = 100;

/** Lists the hashes of texts that an event refers to. An imported event can contain anything. */
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
