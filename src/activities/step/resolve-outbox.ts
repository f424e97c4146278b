import { setImmediate as nextTurn } from "node:timers/promises";
import { buildOutboxMessage } from "../../core/machine/outbox.ts";
import type { InboundMessage } from "../../core/machine/state/inbound-message.ts";
import type { Outbox as MachineOutbox } from "../../core/machine/state/outbox.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Content } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { NewEntry, Outbox } from "../../store/transcript/store-write.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { readAnswerText, readTaskText } from "../close-loop/task-text.ts";
import { DefinitionError } from "./failure.ts";

/** Converts the outbox of a command for the transcript: inserts the texts that travelled as references. */
export async function resolveOutbox(
  outbox: MachineOutbox,
  loopId: string,
  transcript: Transcript,
): Promise<Outbox> {
  const entries: NewEntry[] = [];
  for (const entry of outbox.entries) {
    const { body } = entry;
    const person = body.type === "user" || body.type === "rejected" ? body.message : undefined;
    const resolved =
      body.type === "report" && body.from !== undefined
        ? await readAnswerText(body.from, transcript)
        : undefined;
    const parts = person?.parts === undefined ? undefined : await readMessageParts(person, transcript);
    const text =
      parts === undefined && person !== undefined ? await readMessageText(person, transcript) : resolved;
    // One after the other, because many long texts at once would delay the heartbeat.
    if (text !== undefined && text.length > LONG_CHARS) await nextTurn();
    entries.push({
      position: entry.position,
      origin: entry.origin,
      message: buildOutboxMessage(entry, loopId, parts === undefined ? text : joinText(parts), parts),
      ...omitUndefined({ messageId: person?.id, parts: parts === undefined ? undefined : person?.ref }),
      ...(entry.left === true ? { isOnParentBranch: true as const } : {}),
    });
  }
  return { entries, events: outbox.events };
}

/** A text of this length takes some milliseconds to read. */
const LONG_CHARS = 1024 * 1024;

export async function resolveMessage(message: InboundMessage, transcript: Transcript): Promise<NewMessage> {
  const { id, atMs, metadata } = message;
  if (message.parts === true) {
    const text = joinText(await readMessageParts(message, transcript));
    return { id, text, atMs, ...omitUndefined({ parts: message.ref, metadata }) };
  }
  return { id, text: await readMessageText(message, transcript), atMs, ...omitUndefined({ metadata }) };
}

async function readMessageParts(
  { ref }: InboundMessage,
  transcript: Transcript,
): Promise<readonly Content[]> {
  const parts = ref === undefined ? undefined : await transcript.readParts(ref);
  if (parts === undefined) throw createMissingError(ref);
  return parts;
}

function createMissingError(ref: string | undefined): DefinitionError {
  return new DefinitionError(
    `A message refers to the text ${ref}, which the transcript does not contain: send it again`,
  );
}

async function readMessageText({ text, ref, task }: InboundMessage, transcript: Transcript): Promise<string> {
  if (text !== undefined) return text;
  if (task !== undefined) return await readTaskText(task, transcript);
  const stored = ref === undefined ? undefined : await transcript.readText(ref);
  if (stored === undefined) throw createMissingError(ref);
  return stored;
}
