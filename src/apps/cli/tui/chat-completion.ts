import { CHAT_COMMANDS, type ChatCommand } from "../chat/chat-commands.ts";
import { findOpenMention } from "../chat/mentions.ts";
import { formatFileMention } from "../file-mentions.ts";
import {
  type AutocompleteItem,
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  fuzzyFilter,
} from "./pi-tui.ts";

/** The most files in the menu, best first. */
const MAX_SUGGESTIONS = 50;

/** Completes commands at the beginning of a message, and files after an `@`. */
export class ChatCompletion implements AutocompleteProvider {
  readonly #listFiles: () => Promise<readonly string[]>;

  constructor(listFiles: () => Promise<readonly string[]>) {
    this.#listFiles = listFiles;
  }

  async getSuggestions(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<AutocompleteSuggestions | null> {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
    if (cursorLine === 0 && /^\/\S*$/.test(before)) return toSuggestions(suggestCommands(before), before);
    const mention = findOpenMention(before);
    if (mention === undefined) return null;
    const files = await this.#listFiles().catch(() => []);
    return signal.aborted ? null : toSuggestions(suggestFiles(files, mention.path), mention.typed);
  }

  applyCompletion(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    item: AutocompleteItem,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number } {
    const line = lines[cursorLine] ?? "";
    const start = line.slice(0, cursorCol - prefix.length) + item.value;
    const rest = line.slice(cursorCol);
    const completed = rest.startsWith(" ") ? start : `${start} `;
    return { lines: lines.with(cursorLine, completed + rest), cursorLine, cursorCol: completed.length };
  }
}

function toSuggestions(items: AutocompleteItem[], prefix: string): AutocompleteSuggestions | null {
  return items.length === 0 ? null : { items, prefix };
}

function suggestCommands(typed: string): AutocompleteItem[] {
  const commands: readonly ChatCommand[] = CHAT_COMMANDS;
  return commands.flatMap(({ names, argument, description }) => {
    const value = names.find((name) => name.startsWith(typed));
    if (value === undefined) return [];
    return [{ value, label: argument === undefined ? value : `${value} ${argument}`, description }];
  });
}

function suggestFiles(files: readonly string[], typed: string): AutocompleteItem[] {
  const matching = typed === "" ? files : fuzzyFilter([...files], typed, (file) => file);
  return matching.slice(0, MAX_SUGGESTIONS).map((file) => ({ value: formatFileMention(file), label: file }));
}
