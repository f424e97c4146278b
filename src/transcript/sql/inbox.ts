import type { NewMessage } from "../session.ts";
import { all, exec, get, json, type Work } from "./statement.ts";

/** Adds messages in order; one whose id waits already, or is in the conversation, is not added again. */
export function* putInbox(session: string, messages: readonly NewMessage[]): Work<void> {
  for (const message of messages) {
    if (yield* isEntered(session, message.id)) continue;
    yield* exec(
      "INSERT INTO inbox (session, id, at_ms, text) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      session,
      message.id,
      message.atMs,
      json(message.text),
    );
  }
}

export function* inboxOf(session: string): Work<NewMessage[]> {
  const rows = yield* all<{ id: string; at_ms: number; text: string }>(
    "SELECT id, at_ms, text FROM inbox WHERE session = ? ORDER BY sequence",
    session,
  );
  return rows.map((row) => ({ id: row.id, text: JSON.parse(row.text) as string, atMs: row.at_ms }));
}

export function* takeFromInbox(session: string, messages: readonly NewMessage[]): Work<void> {
  for (const { id } of messages) yield* exec("DELETE FROM inbox WHERE session = ? AND id = ?", session, id);
}

/** Whether an entry of the session came from the message with this id. */
export function* isEntered(session: string, id: string): Work<boolean> {
  const there = yield* get("SELECT 1 AS there FROM message_ids WHERE session = ? AND id = ?", session, id);
  return there !== undefined;
}
