import { join } from "node:path";
import { isObject } from "../../../platform/text/json.ts";
import { JsonLinesFile } from "./json-lines-file.ts";

/** How many chats are kept, of all folders. */
const MAX_CHATS = 500;

type RecentChat = { readonly session: string; readonly folder: string };

/** The sessions that the user of this machine has chatted with, and in which folder, for `chat --continue`. */
export class RecentChats {
  readonly #file: JsonLinesFile<RecentChat>;

  constructor(home: string) {
    this.#file = new JsonLinesFile(join(home, "recent-chats.jsonl"));
  }

  /** @returns The sessions of the chats in a folder, the newest first, each once. */
  list(folder: string): readonly string[] {
    const chats = this.#file.read(parseChat, MAX_CHATS).filter((chat) => chat.folder === folder);
    return [...new Set(chats.map(({ session }) => session).toReversed())];
  }

  add(chat: RecentChat): void {
    if (this.list(chat.folder)[0] !== chat.session) this.#file.append(chat);
  }
}

function parseChat(value: unknown): RecentChat | undefined {
  if (!isObject(value)) return undefined;
  const { session, folder } = value;
  return typeof session === "string" && typeof folder === "string" ? { session, folder } : undefined;
}
