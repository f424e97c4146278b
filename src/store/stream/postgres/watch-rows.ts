import type { Statement, Work } from "../../postgres/transaction.ts";
import type { Value } from "../../postgres/values.ts";

// Statements for the sessions that processes watch. The database's clock decides when a watch expires.

const EXPIRES_AT = "clock_timestamp() + ? * interval '1 second'";

export type WatchRow = { readonly id: string; readonly session: string };

/** Stores a watch, or renews it. */
export function* saveWatch({ id, session }: WatchRow, validSeconds: number): Work<void> {
  yield createStatement(
    `INSERT INTO watches (id, session, expires_at) VALUES (?, ?, ${EXPIRES_AT})
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
    id,
    session,
    validSeconds,
  );
}

export function* removeWatch(id: string): Work<void> {
  yield createStatement("DELETE FROM watches WHERE id = ? OR expires_at < clock_timestamp()", id);
}

/** Reads the sessions that are watched now. */
export function* readWatchedSessions(): Work<readonly string[]> {
  const text = "SELECT DISTINCT session FROM watches WHERE expires_at > clock_timestamp()";
  const rows = (yield { text, values: [], returns: "rows" }) as readonly { session: string }[];
  return rows.map(({ session }) => session);
}

function createStatement(text: string, ...values: Value[]): Statement {
  return { text, values, returns: "nothing" };
}
