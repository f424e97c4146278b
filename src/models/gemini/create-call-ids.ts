import type { Message } from "../../schema/message.ts";

/**
 * Names the calls of an answer whose vendor does not: `google-fc-0`, `google-fc-1`, … The numbers continue after those in
 * the conversation, so that ids are unique in it (PROV-21, PROV-22, GAP-08).
 */
export function createCallIds(prefix: string, messages: readonly Message[]): (call: number) => string {
  const form = new RegExp(`^${prefix}-(\\d{1,9})(?:_\\d+)?$`);
  let free = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      const found = part.type === "toolCall" ? form.exec(part.id) : null;
      if (found !== null) free = Math.max(free, Number(found[1]) + 1);
    }
  }
  return (call) => `${prefix}-${free + call}`;
}
