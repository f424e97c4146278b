import { createHash } from "node:crypto";

/** A channel's name is cut at 63 bytes, and is one for the whole database. */
export function channelName(schema: string, what: string): string {
  const hash = createHash("sha256").update(`${schema}\0${what}`, "utf8").digest("hex").slice(0, 24);
  return `holdfast_${what}_${hash}`;
}

/** What is said on a channel about something: short, whatever its name is. */
export function topicOf(name: string): string {
  return createHash("sha256").update(name, "utf8").digest("hex").slice(0, 32);
}
