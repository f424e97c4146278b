import type { MessageMetadata } from "../../../schema/message.ts";
import type { NewMessage } from "../session.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { all, exec, get, json, type Work } from "./statement.ts";

/** Adds messages in order. A message whose id is already in the inbox or in the conversation is skipped. */
export function* putInbox(session: string, messages: readonly NewMessage[]): Work<void> {
  for (const message of messages) {
    if (yield* isMessageTaken(session, message.id)) continue;
    yield* exec(
      "INSERT INTO inbox (session, id, at_ms, text, metadata) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      session,
      message.id,
      message.atMs,
      markForEncryption(json(message.text), "inbox.text", session, message.id),
      markForEncryption(
        message.metadata === undefined ? null : json(message.metadata),
        "inbox.metadata",
        session,
        message.id,
      ),
    );
  }
}

export function* readInbox(session: string): Work<NewMessage[]> {
  const rows = yield* all<{ id: string; at_ms: number; text: string; metadata: string | null }>(
    "SELECT id, at_ms, text, metadata FROM inbox WHERE session = ? ORDER BY sequence",
    session,
  );
  return rows.map((row) => {
    const text = decryptColumn(row, "text", buildAssociatedData("inbox.text", [session, row.id]));
    const metadata = decryptColumn(row, "metadata", buildAssociatedData("inbox.metadata", [session, row.id]));
    return {
      id: row.id,
      text: JSON.parse(text) as string,
      atMs: row.at_ms,
      ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as MessageMetadata }),
    };
  });
}

export function* countInbox(session: string): Work<number> {
  const row = yield* get<{ messages: number }>(
    "SELECT count(*) AS messages FROM inbox WHERE session = ?",
    session,
  );
  return Number(row?.messages ?? 0);
}

export function* takeFromInbox(session: string, messages: readonly NewMessage[]): Work<void> {
  for (const { id } of messages) yield* exec("DELETE FROM inbox WHERE session = ? AND id = ?", session, id);
}

/** Checks whether an entry of the session came from the message with this id. */
export function* isMessageTaken(session: string, id: string): Work<boolean> {
  const existing = yield* get("SELECT 1 AS there FROM message_ids WHERE session = ? AND id = ?", session, id);
  return existing !== undefined;
}
