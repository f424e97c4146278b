import type { ChatTheme } from "./chat-theme.ts";
import { Editor, type TUI } from "./pi-tui.ts";

/** Stands for a tab: the library replaces tabs with blanks, which would change pasted code. No text contains it. */
const TAB = "\uFDD2";
const SHOWN_TAB = "⇥";

const PASTE = `${String.fromCodePoint(27)}[200~`;

/** The editor of messages: several lines, pastes as one piece, history, completion. */
export class PromptEditor extends Editor {
  /** Called with the whole text, pastes included. The editor is empty then. */
  onMessage: ((text: string) => void) | undefined;

  constructor(tui: TUI, theme: ChatTheme) {
    super(tui, theme.editor, { autocompleteMaxVisible: 8 });
    this.onSubmit = (text) => this.onMessage?.(decodeTabs(text));
  }

  get isEmpty(): boolean {
    return this.getText() === "";
  }

  /** The whole text, pastes included. */
  read(): string {
    return decodeTabs(this.getExpandedText());
  }

  override handleInput(data: string): void {
    super.handleInput(isPaste(data) ? encodeTabs(data) : data);
  }

  override setText(text: string): void {
    super.setText(encodeTabs(text));
  }

  override addToHistory(text: string): void {
    super.addToHistory(encodeTabs(text));
  }

  override insertTextAtCursor(text: string): void {
    super.insertTextAtCursor(encodeTabs(text));
  }

  override render(width: number): string[] {
    return super.render(width).map((line) => line.replaceAll(TAB, SHOWN_TAB));
  }
}

export function isPaste(data: string): boolean {
  return data.includes(PASTE);
}

function encodeTabs(text: string): string {
  return text.replaceAll("\t", TAB);
}

function decodeTabs(text: string): string {
  return text.replaceAll(TAB, "\t");
}
