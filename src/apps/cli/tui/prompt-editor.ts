import {
  escapeFileMentions,
  type FileMention,
  findFileMentions,
  formatFileMention,
  parsePastedPath,
} from "../file-mentions.ts";
import type { ChatTheme } from "./chat-theme.ts";
import { Editor, type TUI } from "./pi-tui.ts";

/** Stands for a tab: the library replaces tabs with blanks, which would change pasted code. No text contains it. */
const TAB = "\uFDD2";
const SHOWN_TAB = "⇥";

const PASTE = `${String.fromCodePoint(27)}[200~`;
const PASTE_END = `${String.fromCodePoint(27)}[201~`;

/** The editor of messages: several lines, pastes as one piece, history, completion. */
export class PromptEditor extends Editor {
  /** Called with the whole text, pastes included. The editor is empty then. */
  onMessage: ((text: string) => void) | undefined;

  readonly #folder: string;
  #found: { readonly text: string; readonly mentions: readonly FileMention[] } = { text: "", mentions: [] };

  /** @param folder - Where relative paths in messages begin. */
  constructor(tui: TUI, theme: ChatTheme, folder: string) {
    super(tui, theme.editor, { autocompleteMaxVisible: 8 });
    this.#folder = folder;
    this.onSubmit = (text) => this.onMessage?.(decodeTabs(text));
  }

  get isEmpty(): boolean {
    return this.getText() === "";
  }

  /** The whole text, pastes included. */
  read(): string {
    return decodeTabs(this.getExpandedText());
  }

  /** The paths of the files that the text attaches, once each. */
  get attachments(): readonly string[] {
    return [...new Set(this.#mentions.map(({ path }) => path))];
  }

  removeLastAttachment(): void {
    const last = this.#mentions.at(-1);
    if (last === undefined) return;
    const text = this.getText();
    this.setText(text.slice(0, last.start).trimEnd() + text.slice(last.end));
  }

  get #mentions(): readonly FileMention[] {
    const text = this.getText();
    if (text !== this.#found.text) {
      const mentions = text.includes("@") ? findFileMentions(text, this.#folder) : [];
      this.#found = { text, mentions: mentions.filter(({ isEscaped }) => !isEscaped) };
    }
    return this.#found.mentions;
  }

  override handleInput(data: string): void {
    super.handleInput(isPaste(data) ? encodeTabs(this.#readPaste(data)) : data);
  }

  /**
   * Changes a pasted path of an image or a PDF document, which is what a terminal pastes for a dropped file, to a mention. In
   * other text mentions are escaped: what is pasted may come from anyone, and must not send files to a model.
   */
  #readPaste(data: string): string {
    const start = data.indexOf(PASTE) + PASTE.length;
    const end = data.indexOf(PASTE_END, start);
    const pasted = data.slice(start, end === -1 ? undefined : end);
    const path = parsePastedPath(pasted);
    const { line, col } = this.getCursor();
    const isWordBefore = /\S$/.test((this.getLines()[line] ?? "").slice(0, col));
    const text =
      path !== undefined && /\.(?:png|jpe?g|gif|webp|pdf)$/i.test(path)
        ? `${isWordBefore ? " " : ""}${formatFileMention(path)} `
        : escapeFileMentions(pasted, this.#folder);
    return data.slice(0, start) + text + (end === -1 ? "" : data.slice(end));
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
