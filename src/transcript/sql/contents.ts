import { hashOf } from "./canonical.ts";
import { damaged } from "./damaged.ts";
import { placeOf, secret } from "./private.ts";
import { exec, get, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

/** How long a text that no entry names is kept. */
const LEASE_MS = 24 * 60 * 60 * 1000;

/** Stores a text under its hash; again: the lease begins anew. */
export function* putText(text: string, atMs: number): Work<string> {
  return yield* put(text, atMs + LEASE_MS, 0);
}

/** Stores the JSON of a large message, for good. */
export function* putContent(json: string): Work<string> {
  return yield* put(json, 0, 1);
}

function* put(text: string, leasedUntilMs: number, named: 0 | 1): Work<string> {
  const hash = hashOf(text);
  const body = Buffer.from(text, "utf8");
  yield* exec(
    `INSERT INTO contents (hash, bytes, leased_until_ms, named, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (hash) DO UPDATE SET
       leased_until_ms = CASE WHEN contents.leased_until_ms > excluded.leased_until_ms
         THEN contents.leased_until_ms ELSE excluded.leased_until_ms END,
       named = CASE WHEN contents.named > excluded.named THEN contents.named ELSE excluded.named END`,
    hash,
    body.length,
    leasedUntilMs,
    named,
    secret(body, "contents.body", hash),
  );
  return hash;
}

export function* textOf(hash: string): Work<string | undefined> {
  const row = yield* get<{ body: Buffer }>("SELECT body FROM contents WHERE hash = ?", hash);
  if (row === undefined) return undefined;
  const text = wordsIn(row, "body", placeOf("contents.body", [hash])).toString("utf8");
  return sound(text, hash, "text");
}

/** What is kept under the hash of its words must still have it. */
export function sound(text: string, hash: string, what: string): string {
  if (hashOf(text) === hash) return text;
  throw damaged(`${what} ${hash}`);
}
