import { isAttachment } from "../../../core/view/attachment.ts";
import {
  type DataReference,
  formatDataReference,
  parseDataReference,
} from "../../../core/view/data-reference.ts";
import type { AgentMessage, Content } from "../../../schema/message.ts";
import { StoreError } from "../store-error.ts";
import { putBytes, putText, readBytes, readText } from "./contents.ts";
import { createDamagedError } from "./damaged.ts";
import { get, json, type Work } from "./statement.ts";
import { addTextOwner, formatContentOwner } from "./texts.ts";

// The bytes of images and files. They are stored once each, under their hash, and a message has references in their place. The
// text with the references owns them: they are deleted with the last such text.

/** Shorter data stays in the message. */
const MIN_SEPARATE_CHARS = 2048;

/** Parts with references in place of their data, and the hashes of that data. */
type SeparatedParts = { readonly content: Content[]; readonly hashes: readonly string[] };

/** Stores the data of parts. Parts that have references already keep them. */
function* separateData(content: readonly Content[]): Work<SeparatedParts> {
  const parts: Content[] = [];
  const hashes: string[] = [];
  for (const part of content) {
    const stored = isAttachment(part) ? yield* putData(part.data) : undefined;
    if (stored === undefined || !isAttachment(part)) {
      parts.push(part);
      continue;
    }
    hashes.push(stored.hash);
    parts.push({ ...part, data: formatDataReference(stored) });
  }
  return { content: parts, hashes };
}

/** Returns nothing for data that stays in its message: it is short, or is no base64 that can be restored exactly. */
function* putData(data: string): Work<DataReference | undefined> {
  const known = parseDataReference(data);
  if (known !== undefined) {
    const row = yield* get("SELECT 1 AS there FROM contents WHERE hash = ?", known.hash);
    if (row !== undefined) return known;
    throw new StoreError(
      "other",
      `A message refers to the data ${known.hash}, which is not in the transcript.`,
    );
  }
  if (data.length < MIN_SEPARATE_CHARS) return undefined;
  const bytes = Buffer.from(data, "base64");
  if (bytes.toString("base64") !== data) return undefined;
  return { hash: yield* putBytes(bytes), bytes: bytes.length };
}

/** Separates the data of a message. */
export function* separateMessageData<Message extends AgentMessage>(
  message: Message,
): Work<{ readonly message: Message; readonly hashes: readonly string[] }> {
  if (message.role === "extension") return { message, hashes: [] };
  const { content, hashes } = yield* separateData(message.content);
  return hashes.length === 0 ? { message, hashes } : { message: { ...message, content }, hashes };
}

/** Retains data as long as the text that refers to it. */
export function* linkData(text: string, hashes: readonly string[]): Work<void> {
  for (const hash of hashes) yield* addTextOwner(formatContentOwner(text), hash);
}

/** Replaces references by the data. */
export function* loadMessageData<Message extends AgentMessage>(message: Message): Work<Message> {
  if (message.role === "extension" || !hasReferences(message.content)) return message;
  return { ...message, content: yield* loadData(message.content) };
}

export function* loadData(content: readonly Content[]): Work<Content[]> {
  const parts: Content[] = [];
  for (const part of content) {
    const reference = getReference(part);
    parts.push(
      reference === undefined || !isAttachment(part)
        ? part
        : { ...part, data: yield* readData(reference.hash) },
    );
  }
  return parts;
}

/** Reads the JSON of a stored message, with its data. */
export function* readWholeMessage(hash: string): Work<string | undefined> {
  const text = yield* readText(hash);
  if (text === undefined) return undefined;
  const message = JSON.parse(text) as AgentMessage;
  const whole = yield* loadMessageData(message);
  return whole === message ? text : json(whole);
}

/** Reads stored bytes as base64. */
export function* readData(hash: string): Work<string> {
  const bytes = yield* readBytes(hash);
  if (bytes === undefined) throw createDamagedError(`the data ${hash}`);
  return bytes.toString("base64");
}

function hasReferences(content: readonly Content[]): boolean {
  return content.some((part) => getReference(part) !== undefined);
}

function getReference(part: Content): DataReference | undefined {
  return isAttachment(part) ? parseDataReference(part.data) : undefined;
}

/**
 * Stores the parts of a user's message with a lease, and returns the hash by which the message travels. The id makes the hash
 * the message's own.
 */
export function* putParts(id: string, given: readonly Content[], atMs: number): Work<string> {
  const { content, hashes } = yield* separateData(given);
  const text = yield* putText(json({ id, content }), atMs);
  yield* linkData(text, hashes);
  return text;
}

/** Reads the parts of a user's message, with references. */
export function* readParts(hash: string): Work<readonly Content[] | undefined> {
  const text = yield* readText(hash);
  if (text === undefined) return undefined;
  return (JSON.parse(text) as { readonly content: readonly Content[] }).content;
}
