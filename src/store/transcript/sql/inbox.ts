import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { InboxLine } from "../../../schema/export-line.ts";
import type { MessageMetadata } from "../../../schema/message.ts";
import type { NewMessage } from "../session.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { putParts } from "./message-data.ts";
import { all, exec, get, json, type Work } from "./statement.ts";
import { keepParts } from "./texts.ts";

/** Adds messages in order. A message whose id is already in the inbox or in the conversation is skipped. */
export function* putInbox(session: string, messages: readonly NewMessage[]): Work<void> {
  for (const message of messages) {
    if (yield* isMessageTaken(session, message.id)) continue;
    yield* exec(
      "INSERT INTO inbox (session, id, at_ms, text, metadata) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      session,
      message.id,
      message.atMs,
      markForEncryption(json(encodeText(message)), "inbox.text", session, message.id),
      markForEncryption(
        message.metadata === undefined ? null : json(message.metadata),
        "inbox.metadata",
        session,
        message.id,
      ),
    );
    if (message.parts !== undefined) yield* keepParts(session, message.parts);
  }
}

export function* importInboxLine({ content, ...line }: InboxLine, atMs: number): Work<void> {
  const parts = content === undefined ? undefined : yield* putParts(line.id, content, atMs);
  yield* putInbox(line.session, [{ ...line, ...omitUndefined({ parts }) }]);
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
      ...decodeText(JSON.parse(text) as StoredText),
      atMs: row.at_ms,
      ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as MessageMetadata }),
    };
  });
}

/** A message with parts is stored as an object. */
type StoredText = string | { readonly text: string; readonly parts: string };

function encodeText({ text, parts }: NewMessage): StoredText {
  return parts === undefined ? text : { text, parts };
}

function decodeText(stored: StoredText): Pick<NewMessage, "text" | "parts"> {
  return typeof stored === "string" ? { text: stored } : stored;
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
