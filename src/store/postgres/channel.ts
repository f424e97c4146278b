import { createHash } from "node:crypto";

/** Returns the name of a channel. Names have at most 63 bytes and are shared by the whole database. */
export function channelName(schema: string, what: string): string {
  const hash = createHash("sha256").update(`${schema}\0${what}`, "utf8").digest("hex").slice(0, 24);
  return `holdfast_${what}_${hash}`;
}

/** Returns the topic of a name: a short text for notifications on a channel. */
export function hashTopic(name: string): string {
  return createHash("sha256").update(name, "utf8").digest("hex").slice(0, 32);
}
