import { createHash } from "node:crypto";
import type { Content } from "../schema/message.ts";
import type { ModelDelta } from "./provider.ts";

/** Of a call's id, which stands in history, in events and on screens once and again. Most have some thirty. */
const MAX_ID_BYTES = 256;

/** The vendor's id, or one that is unique in the answer: some leave it empty, and some give it twice. */
export function assignCallId(sentId: string, taken: readonly string[]): string {
  const base = sentId === "" ? `call_${taken.length + 1}` : sentId;
  let id = base;
  for (let copy = 2; taken.includes(id); copy += 1) id = `${base}_${copy}`;
  return id;
}

/** The vendor's id, or a short one in place of a long one: always the same for the same. */
function shortenId(id: string): string {
  if (Buffer.byteLength(id, "utf8") <= MAX_ID_BYTES) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
}

/** What was replaced is kept: some vendors hide a signature in it and want it back. */
export function shortenCallId(part: Content): Content {
  if (part.type !== "toolCall") return part;
  const id = shortenId(part.id);
  return id === part.id ? part : { ...part, id, vendorId: part.id };
}

export function shortenDeltaCallId(delta: ModelDelta): ModelDelta {
  return delta.type === "toolCall" ? { ...delta, id: shortenId(delta.id) } : delta;
}
