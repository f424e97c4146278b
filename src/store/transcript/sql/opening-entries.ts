import { buildRejectedMessage, buildUserContent } from "../../../core/machine/rejected-message.ts";
import { isAttachment } from "../../../core/view/attachment.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { UserMessage } from "../../../schema/message.ts";
import type { EntryOrigin } from "../../../schema/record.ts";
import type { LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import type { NewEntry } from "../store-write.ts";
import { createDamagedError } from "./damaged.ts";
import { isMessageTaken } from "./inbox.ts";
import { readParts } from "./message-data.ts";
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
    entries.push({
      position,
      origin,
      message: yield* toUserMessage(message, loopId),
      messageId: message.id,
      ...omitUndefined({ parts: message.parts }),
    });
  }
  return entries;
}

/** Builds the entries of messages without a waiting sender that filters have rejected. */
export function* buildRejectedEntries(opening: LoopOpening, reason: string, from: number): Work<NewEntry[]> {
  const { rejectedMessages = [], step } = opening;
  const entries: NewEntry[] = [];
  for (const { id, text, parts, atMs, origin = "inbox" } of rejectedMessages) {
    if (yield* isMessageTaken(step.session, id)) continue;
    const attached = parts === undefined ? [] : ((yield* readParts(parts)) ?? []).filter(isAttachment);
    const message = buildRejectedMessage(text, reason, atMs, attached);
    entries.push({ position: from + entries.length, origin, message, messageId: id });
  }
  return entries;
}

function* toUserMessage(message: NewMessage, loopId: string): Work<UserMessage> {
  const parts = message.parts === undefined ? undefined : yield* readParts(message.parts);
  if (message.parts !== undefined && parts === undefined)
    throw createDamagedError(`the parts ${message.parts} of a message`);
  return {
    role: "user",
    content: [...buildUserContent(parts ?? message.text, message.warning)],
    timestamp: message.atMs,
    ...omitUndefined({ metadata: message.metadata }),
    turnId: { loopId, turnIndex: 0 },
  };
}
