import { hashOf } from "./canonical.ts";
import type { Sql } from "./sql.ts";

/** How long a text that no entry names is kept. */
const LEASE_MS = 24 * 60 * 60 * 1000;

/** Stores a text under its hash; again: the lease begins anew. */
export function putText(sql: Sql, text: string, atMs: number): string {
  return put(sql, text, atMs + LEASE_MS, 0);
}

/** Stores the JSON of a large message, for good. */
export function putContent(sql: Sql, json: string): string {
  return put(sql, json, 0, 1);
}

function put(sql: Sql, text: string, leasedUntilMs: number, named: 0 | 1): string {
  const hash = hashOf(text);
  const body = Buffer.from(text, "utf8");
  sql.run(
    `INSERT INTO contents (hash, bytes, leased_until_ms, named, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (hash) DO UPDATE SET
       leased_until_ms = max(leased_until_ms, excluded.leased_until_ms), named = max(named, excluded.named)`,
    hash,
    body.length,
    leasedUntilMs,
    named,
    body,
  );
  return hash;
}

export function textOf(sql: Sql, hash: string): string | undefined {
  return sql.get<{ body: Buffer }>("SELECT body FROM contents WHERE hash = ?", hash)?.body.toString("utf8");
}
