import { join } from "node:path";
import { readRedactContent } from "../../../config/redact-content.ts";
import { resolveEncryption } from "../../../platform/encryption/resolve-encryption.ts";
import { isObject } from "../../../platform/text/json.ts";
import { redactWhole } from "../../../platform/text/redact.ts";
import { JsonLinesFile } from "./json-lines-file.ts";

/** How many messages are kept. */
const MAX_HISTORY_ENTRIES = 1_000;
/** Longer messages, such as pasted logs, are not kept: they are easier to paste again than to find. */
const MAX_ENTRY_CHARS = 20_000;

type HistoryEntry = { readonly text: string };

/** The messages that the user typed in chats, in a file of the home folder. Text that looks like a key is redacted there. */
export class PromptHistory {
  readonly #file: JsonLinesFile<HistoryEntry> | undefined;
  #entries: readonly string[];

  private constructor(file: JsonLinesFile<HistoryEntry> | undefined) {
    this.#file = file;
    this.#entries = file?.read(parseEntry, MAX_HISTORY_ENTRIES).map(({ text }) => text) ?? [];
  }

  /** @param env - Nothing is kept, or read, where it requests that content is redacted or that the transcript is encrypted. */
  static open(home: string, env: NodeJS.ProcessEnv): PromptHistory {
    const isPrivate =
      readRedactContent(env).redactContent === true || resolveEncryption(undefined, env).transcript;
    return new PromptHistory(isPrivate ? undefined : new JsonLinesFile(join(home, "chat-history.jsonl")));
  }

  /** The oldest first. */
  get entries(): readonly string[] {
    return this.#entries;
  }

  add(text: string): void {
    if (text.trim() === "" || text === this.#entries.at(-1)) return;
    this.#entries = [...this.#entries, text].slice(-MAX_HISTORY_ENTRIES);
    if (text.length <= MAX_ENTRY_CHARS) this.#file?.append({ text: redactWhole(text) });
  }
}

function parseEntry(value: unknown): HistoryEntry | undefined {
  return isObject(value) && typeof value["text"] === "string" ? { text: value["text"] } : undefined;
}
