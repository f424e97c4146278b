import { formatAttachment, isAttachment, isTextFile } from "../../core/view/attachment.ts";
import { formatFileText } from "../../models/conversation.ts";
import type { Content } from "../../schema/message.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Conversations } from "./conversations.ts";

// What filters and hooks see of a message that is not in the conversation yet.

type PartReaders = {
  readonly transcript: Pick<Transcript, "readParts">;
  readonly conversations: Pick<Conversations, "loadData">;
};

/** Reads the content of a message, with the data of its images and files. */
export async function readContent(
  { text, parts, atMs }: Pick<NewMessage, "text" | "parts" | "atMs">,
  { transcript, conversations }: PartReaders,
): Promise<readonly Content[]> {
  const stored = parts === undefined ? undefined : await transcript.readParts(parts);
  if (stored === undefined) return [{ type: "text", text }];
  const message = { role: "user" as const, content: [...stored], timestamp: atMs };
  const [loaded = message] = await conversations.loadData([message]);
  return loaded.content;
}

/** Reads what a filter checks: the text of a message and of its text files, and one line for each other file. */
export async function readFilterText(message: NewMessage, readers: PartReaders): Promise<string> {
  if (message.parts === undefined) return message.text;
  const content = await readContent(message, readers);
  const texts = content.map((part) => {
    if (part.type === "text") return part.text;
    if (!isAttachment(part)) return "";
    return part.type === "file" && isTextFile(part) ? formatFileText(part) : `[${formatAttachment(part)}]`;
  });
  return texts.join("\n");
}
