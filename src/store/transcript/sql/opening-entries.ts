import { refusedMessage, spokenContent } from "../../../core/machine/refused.ts";
import type { UserMessage } from "../../../schema/message.ts";
import type { EntryOrigin } from "../../../schema/record.ts";
import type { LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import type { NewEntry } from "../write.ts";
import { isEntered } from "./inbox.ts";
import type { Work } from "./statement.ts";

// The words that a loop begins with.

/** The inbox, then the prompts; each message once, however often it was sent. */
export function* openingEntries(
  opening: LoopOpening,
  inbox: readonly NewMessage[],
  loopId: string,
  from: number,
): Work<NewEntry[]> {
  const { session } = opening.step;
  const seen = new Set<string>();
  const entries: NewEntry[] = [];
  const words = [
    ...inbox.map((message) => ({ message, origin: "inbox" as EntryOrigin })),
    ...opening.prompts.map((message) => ({ message, origin: message.origin ?? "prompt" })),
  ];
  for (const { message, origin } of words) {
    if (seen.has(message.id) || (yield* isEntered(session, message.id))) continue;
    seen.add(message.id);
    const position = from + entries.length;
    entries.push({ position, origin, message: spoken(message, loopId), messageId: message.id });
  }
  return entries;
}

/** What filters have refused of words that nobody waits with for an answer. */
export function* refusedEntries(opening: LoopOpening, reason: string, from: number): Work<NewEntry[]> {
  const { refused = [], step } = opening;
  const entries: NewEntry[] = [];
  for (const { id, text, atMs, origin = "inbox" } of refused) {
    if (yield* isEntered(step.session, id)) continue;
    const message = refusedMessage(text, reason, atMs);
    entries.push({ position: from + entries.length, origin, message, messageId: id });
  }
  return entries;
}

function spoken(message: NewMessage, loopId: string): UserMessage {
  return {
    role: "user",
    content: [...spokenContent(message.text, message.warning)],
    timestamp: message.atMs,
    turnId: { loopId, turnIndex: 0 },
  };
}
