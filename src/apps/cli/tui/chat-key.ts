import type { SelectorKey } from "../chat/approval-selector.ts";
import type { SearchKey } from "../chat/history-search.ts";
import { decodeKittyPrintable, matchesKey } from "./pi-tui.ts";
import { isPaste } from "./prompt-editor.ts";

/** A key that the chat handles before the editor. */
export type ChatKey =
  | "interrupt"
  | "end"
  | "suspend"
  | "expand"
  | "search"
  | "redraw"
  | "remove-attachment"
  | "tab"
  | "escape";

const KEYS = {
  "ctrl+c": "interrupt",
  "ctrl+d": "end",
  "ctrl+z": "suspend",
  "ctrl+o": "expand",
  "ctrl+r": "search",
  "ctrl+l": "redraw",
  "ctrl+x": "remove-attachment",
  tab: "tab",
  escape: "escape",
} as const satisfies Record<string, ChatKey>;

type KeyName = keyof typeof KEYS;

export function readChatKey(data: string): ChatKey | undefined {
  if (isPaste(data)) return undefined;
  const name = (Object.keys(KEYS) as KeyName[]).find((key) => matchesKey(data, key));
  return name === undefined ? undefined : KEYS[name];
}

/** @returns The key for the selection of an answer; nothing if the key has no meaning there. */
export function readSelectorKey(data: string): SelectorKey | undefined {
  if (matchesKey(data, "up")) return { type: "up" };
  if (matchesKey(data, "down")) return { type: "down" };
  if (matchesKey(data, "enter")) return { type: "enter" };
  if (matchesKey(data, "escape")) return { type: "later" };
  if (matchesKey(data, "backspace")) return { type: "erase" };
  return readText(data);
}

export function readSearchKey(data: string): SearchKey | undefined {
  if (matchesKey(data, "up") || matchesKey(data, "ctrl+r")) return { type: "older" };
  if (matchesKey(data, "down") || matchesKey(data, "ctrl+s")) return { type: "newer" };
  if (matchesKey(data, "backspace")) return { type: "erase" };
  return readText(data);
}

function readText(data: string): { readonly type: "text"; readonly text: string } | undefined {
  const text = decodeKittyPrintable(data) ?? data;
  return /^\P{Cc}+$/u.test(text) ? { type: "text", text } : undefined;
}
