import { type Outbox as MachineOutbox, outboxMessage } from "../core/outbox.ts";
import type { PersonMessage } from "../core/state.ts";
import type { NewMessage } from "../transcript/session.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Outbox } from "../transcript/write.ts";
import { DefinitionError } from "./failure.ts";
import { taskWords, wordsAt } from "./task-words.ts";

/** What rode along in a command, as the transcript takes it: words that travelled as a reference are put in. */
export async function unload(cargo: MachineOutbox, loopId: string, transcript: Transcript): Promise<Outbox> {
  const entries = await Promise.all(
    cargo.entries.map(async (entry) => {
      const { body } = entry;
      const person = body.type === "person" || body.type === "refused" ? body.message : undefined;
      const said =
        body.type === "report" && body.from !== undefined ? await wordsAt(body.from, transcript) : undefined;
      const text = person === undefined ? said : await wordsOf(person, transcript);
      return {
        position: entry.position,
        origin: entry.origin,
        message: outboxMessage(entry, loopId, text),
        ...(person === undefined ? {} : { messageId: person.id }),
        ...(entry.left === true ? { left: true as const } : {}),
      };
    }),
  );
  return { entries, events: cargo.events };
}

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
