import { createHash } from "node:crypto";
import type { Content } from "../schema/message.ts";
import type { ModelDelta } from "./provider.ts";

/** The limit for a call's id, which is repeated in history, in events and on screens. Most have about thirty bytes. */
const MAX_ID_BYTES = 256;

/** Returns the vendor's id, or one that is unique in the answer: some vendors send empty or duplicate ids. */
export function assignCallId(sentId: string, taken: readonly string[]): string {
  const base = sentId === "" ? `call_${taken.length + 1}` : sentId;
  let id = base;
  for (let copy = 2; taken.includes(id); copy += 1) id = `${base}_${copy}`;
  return id;
}

/** Returns the vendor's id, or a short one derived from a long one. */
function shortenId(id: string): string {
  if (Buffer.byteLength(id, "utf8") <= MAX_ID_BYTES) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
}

/** Shortens the id, and stores the original: some vendors hide a signature in it and require it back. */
export function shortenCallId(part: Content): Content {
  if (part.type !== "toolCall") return part;
  const id = shortenId(part.id);
  return id === part.id ? part : { ...part, id, vendorId: part.id };
}

export function shortenDeltaCallId(delta: ModelDelta): ModelDelta {
  return delta.type === "toolCall" ? { ...delta, id: shortenId(delta.id) } : delta;
}
