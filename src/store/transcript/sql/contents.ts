import { decryptColumn } from "./column-encryption.ts";
import { createDamagedError } from "./damaged.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { hashText } from "./hash-text.ts";
import { exec, get, type Work } from "./statement.ts";

/** How long a text without references is retained. */
const LEASE_MS = 24 * 60 * 60 * 1000;

/** Stores a text under its hash. Storing it again renews the lease. */
export function* putText(text: string, atMs: number): Work<string> {
  return yield* putBody(text, atMs + LEASE_MS, 0);
}

/** Gives a stored text a new lease. A text that something refers to stays beyond it. */
export function* renewLease(hash: string, atMs: number): Work<void> {
  yield* exec(
    "UPDATE contents SET is_referenced = 0, leased_until_ms = ? WHERE hash = ?",
    atMs + LEASE_MS,
    hash,
  );
}

/** Stores the JSON of a large message, without a lease. */
export function* putContent(json: string): Work<string> {
  return yield* putBody(json, 0, 1);
}

/** Stores the bytes of an image or a file, without a lease. */
export function* putBytes(bytes: Buffer): Work<string> {
  return yield* putBody(bytes, 0, 1);
}

function* putBody(content: string | Buffer, leasedUntilMs: number, isReferenced: 0 | 1): Work<string> {
  const body = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  const hash = hashText(body);
  yield* exec(
    `INSERT INTO contents (hash, bytes, leased_until_ms, is_referenced, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (hash) DO UPDATE SET
       leased_until_ms = CASE WHEN contents.leased_until_ms > excluded.leased_until_ms
         THEN contents.leased_until_ms ELSE excluded.leased_until_ms END,
       is_referenced = CASE WHEN contents.is_referenced > excluded.is_referenced THEN contents.is_referenced ELSE excluded.is_referenced END`,
    hash,
    body.length,
    leasedUntilMs,
    isReferenced,
    markForEncryption(body, "contents.body", hash),
  );
  return hash;
}

export function* readText(hash: string): Work<string | undefined> {
  const body = yield* readBytes(hash);
  return body?.toString("utf8");
}

export function* readBytes(hash: string): Work<Buffer | undefined> {
  const row = yield* get<{ body: Buffer }>("SELECT body FROM contents WHERE hash = ?", hash);
  if (row === undefined) return undefined;
  return checkHash(decryptColumn(row, "body", buildAssociatedData("contents.body", [hash])), hash, "text");
}

/** Throws if a text does not have the hash under which it is stored. */
export function checkHash<Body extends string | Buffer>(text: Body, hash: string, description: string): Body {
  if (hashText(text) === hash) return text;
  throw createDamagedError(`${description} ${hash}`);
}
