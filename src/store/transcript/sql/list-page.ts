import type { LoopStatus } from "../../../schema/record.ts";
import type { ListedSession, SessionCursor, SessionFilter } from "../archive.ts";
import { type SessionRow, toSessionRecord } from "./read-records.ts";
import { all, get, type Value, type Work } from "./statement.ts";

/** Follows every other character: ids are compared by their bytes. */
const LAST_CHARACTER = "\u{10ffff}";

export type ListedRow = SessionRow;

/** Builds the conditions of a filter on the rows of `sessions`. */
export function buildConditions(filter: SessionFilter): { readonly where: string; readonly values: Value[] } {
  const conditions: readonly (readonly [string, Value | undefined])[] = [
    ["sessions.agent_name = ?", filter.agentName],
    ["sessions.model = ?", filter.model],
    ["sessions.status = ?", filter.status satisfies LoopStatus | undefined],
    ["sessions.last_active_at_ms >= ?", filter.sinceMs],
    ["sessions.last_active_at_ms < ?", filter.untilMs],
    [
      "coalesce((SELECT sum(cost_usd) FROM loops WHERE loops.session = sessions.id), 0) > ?",
      filter.costOverUsd,
    ],
    ["sessions.spawned_by = ?", filter.spawnedBy ?? undefined],
    ["sessions.id >= ?", filter.idPrefix],
    ["sessions.id < ?", filter.idPrefix === undefined ? undefined : filter.idPrefix + LAST_CHARACTER],
  ];
  const given = conditions.filter((one): one is readonly [string, Value] => one[1] !== undefined);
  const ownConditions = filter.spawnedBy === null ? [NO_CALLER] : [];
  const where = ["sessions.hidden IS NULL", ...given.map(([text]) => text), ...ownConditions];
  return { where: where.join(" AND "), values: given.map(([, value]) => value) };
}

/** No agent has called the session, or the caller's session is deleted. */
const NO_CALLER = `(sessions.spawned_by IS NULL
  OR NOT EXISTS (SELECT 1 FROM sessions AS callers WHERE callers.id = sessions.spawned_by))`;

type TotalsRow = ListedRow & { turns: number; cost_usd: number | null; open_loops: number };

export function* readListPage(
  filter: SessionFilter,
  { limit, after }: { readonly limit: number; readonly after?: SessionCursor | undefined },
): Work<readonly ListedSession[]> {
  const { where, values } = buildConditions(filter);
  const page =
    after === undefined
      ? ""
      : "AND (sessions.last_active_at_ms < ? OR (sessions.last_active_at_ms = ? AND sessions.id > ?))";
  const cursorValues = after === undefined ? [] : [after.lastActiveAtMs, after.lastActiveAtMs, after.id];
  const rows = yield* all<TotalsRow>(
    `SELECT sessions.*,
       coalesce((SELECT sum(turns) FROM loops WHERE loops.session = sessions.id), 0) AS turns,
       CASE WHEN EXISTS (SELECT 1 FROM loops WHERE loops.session = sessions.id AND loops.cost_usd IS NULL
           AND loops.status <> 'running')
         THEN NULL
         ELSE coalesce((SELECT sum(cost_usd) FROM loops WHERE loops.session = sessions.id), 0)
       END AS cost_usd,
       (SELECT count(*) FROM loops WHERE loops.session = sessions.id AND loops.status = 'running') AS open_loops
     FROM sessions WHERE ${where} ${page} ORDER BY sessions.last_active_at_ms DESC, sessions.id LIMIT ?`,
    ...values,
    ...cursorValues,
    limit,
  );
  return rows.map((row) => ({
    ...toSessionRecord(row),
    totals: { turns: Number(row.turns), costUsd: row.cost_usd, openLoops: Number(row.open_loops) },
  }));
}

/** Counts the bytes of all messages, each once, even if several branches contain it. */
export function* countBytes(session: string): Work<number> {
  const row = yield* get<{ bytes: number | null }>(
    `SELECT sum(coalesce(contents.bytes, octet_length(entries.message)) + coalesce((
       SELECT sum(data.bytes) FROM text_owners JOIN contents AS data ON data.hash = text_owners.hash
       WHERE text_owners.owner = 'contents/' || entries.content), 0)) AS bytes
     FROM branches JOIN entries ON entries.branch = branches.ref
       LEFT JOIN contents ON contents.hash = entries.content
     WHERE branches.session = ?`,
    session,
  );
  return Number(row?.bytes ?? 0);
}
