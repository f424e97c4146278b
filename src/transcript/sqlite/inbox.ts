import type { NewMessage } from "../session.ts";
import { json, type Sql } from "./sql.ts";

/** Adds messages in order; one whose id waits already, or is in the conversation, is not added again. */
export function putInbox(sql: Sql, session: string, messages: readonly NewMessage[]): void {
  for (const message of messages) {
    if (isEntered(sql, session, message.id)) continue;
    sql.run(
      "INSERT INTO inbox (session, id, at_ms, text) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      session,
      message.id,
      message.atMs,
      json(message.text),
    );
  }
}

export function inboxOf(sql: Sql, session: string): NewMessage[] {
  const rows = sql.all<{ id: string; at_ms: number; text: string }>(
    "SELECT id, at_ms, text FROM inbox WHERE session = ? ORDER BY sequence",
    session,
  );
  return rows.map((row) => ({ id: row.id, text: JSON.parse(row.text) as string, atMs: row.at_ms }));
}

export function takeFromInbox(sql: Sql, session: string, messages: readonly NewMessage[]): void {
  for (const { id } of messages) sql.run("DELETE FROM inbox WHERE session = ? AND id = ?", session, id);
}

/** Whether an entry of the session came from the message with this id. */
export function isEntered(sql: Sql, session: string, id: string): boolean {
  return (
    sql.get("SELECT 1 AS there FROM message_ids WHERE session = ? AND id = ?", session, id) !== undefined
  );
}
