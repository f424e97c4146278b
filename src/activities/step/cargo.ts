import { setImmediate as nextTurn } from "node:timers/promises";
import { type Outbox as MachineOutbox, outboxMessage } from "../../core/machine/outbox.ts";
import type { PersonMessage } from "../../core/machine/state/state.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { NewEntry, Outbox } from "../../store/transcript/write.ts";
import { taskWords, wordsAt } from "../close-loop/task-words.ts";
import { DefinitionError } from "./failure.ts";

/** What rode along in a command, as the transcript takes it: words that travelled as a reference are put in. */
export async function unload(cargo: MachineOutbox, loopId: string, transcript: Transcript): Promise<Outbox> {
  const entries: NewEntry[] = [];
  for (const entry of cargo.entries) {
    const { body } = entry;
    const person = body.type === "person" || body.type === "refused" ? body.message : undefined;
    const said =
      body.type === "report" && body.from !== undefined ? await wordsAt(body.from, transcript) : undefined;
    const text = person === undefined ? said : await wordsOf(person, transcript);
    // One after the other: many long texts at once would hold up the heartbeat.
    if (text !== undefined && text.length > LONG_CHARS) await nextTurn();
    entries.push({
      position: entry.position,
      origin: entry.origin,
      message: outboxMessage(entry, loopId, text),
      ...(person === undefined ? {} : { messageId: person.id }),
      ...(entry.left === true ? { left: true as const } : {}),
    });
  }
  return { entries, events: cargo.events };
}

/** A text of which reading takes some milliseconds. */
const LONG_CHARS = 1024 * 1024;

export async function unloadMessage(message: PersonMessage, transcript: Transcript): Promise<NewMessage> {
  return { id: message.id, text: await wordsOf(message, transcript), atMs: message.atMs };
}

async function wordsOf({ text, ref, task }: PersonMessage, transcript: Transcript): Promise<string> {
  if (text !== undefined) return text;
  if (task !== undefined) return await taskWords(task, transcript);
  const stored = ref === undefined ? undefined : await transcript.text(ref);
  if (stored === undefined) {
    throw new DefinitionError(
      `A message refers to the text ${ref}, which the transcript does not hold: send it again`,
    );
  }
  return stored;
}
