import { buildRejectedMessage, buildUserContent } from "../../../core/machine/rejected-message.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { UserMessage } from "../../../schema/message.ts";
import type { EntryOrigin } from "../../../schema/record.ts";
import type { LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import type { NewEntry } from "../store-write.ts";
import { isMessageTaken } from "./inbox.ts";
import type { Work } from "./statement.ts";

// The messages with which a loop begins.

/** Builds the entries of the inbox, then those of the prompts; each message once, even if it was sent repeatedly. */
export function* buildOpeningEntries(
  opening: LoopOpening,
  inbox: readonly NewMessage[],
  loopId: string,
  from: number,
): Work<NewEntry[]> {
  const { session } = opening.step;
  const takenIds = new Set<string>();
  const entries: NewEntry[] = [];
  const newMessages = [
    ...inbox.map((message) => ({ message, origin: "inbox" as EntryOrigin })),
    ...opening.prompts.map((message) => ({ message, origin: message.origin ?? "prompt" })),
  ];
  for (const { message, origin } of newMessages) {
    if (takenIds.has(message.id) || (yield* isMessageTaken(session, message.id))) continue;
    takenIds.add(message.id);
    const position = from + entries.length;
    entries.push({ position, origin, message: toUserMessage(message, loopId), messageId: message.id });
  }
  return entries;
}

/** Builds the entries of messages without a waiting sender that filters have rejected. */
export function* buildRejectedEntries(opening: LoopOpening, reason: string, from: number): Work<NewEntry[]> {
  const { rejectedMessages = [], step } = opening;
  const entries: NewEntry[] = [];
  for (const { id, text, atMs, origin = "inbox" } of rejectedMessages) {
    if (yield* isMessageTaken(step.session, id)) continue;
    const message = buildRejectedMessage(text, reason, atMs);
    entries.push({ position: from + entries.length, origin, message, messageId: id });
  }
  return entries;
}

function toUserMessage(message: NewMessage, loopId: string): UserMessage {
  return {
    role: "user",
    content: [...buildUserContent(message.text, message.warning)],
    timestamp: message.atMs,
    ...omitUndefined({ metadata: message.metadata }),
    turnId: { loopId, turnIndex: 0 },
  };
}
