import { type DialogPrompt, getCallKey } from "../approval-dialog.ts";
import {
  type ApprovalRequest,
  formatApprovalRequest,
  formatCoverage,
  isTruncated,
} from "../approval-view.ts";
import { type Answer, createSelector, stepSelector } from "../chat/approval-selector.ts";
import { type HistorySearch, startSearch, stepSearch } from "../chat/history-search.ts";
import { type InterruptState, stepEndOfInput, stepInterrupt } from "../chat/step-interrupt.ts";
import type { ChatPhase } from "../step-chat.ts";
import { readChatKey, readSearchKey, readSelectorKey } from "./chat-key.ts";
import type { ChatTheme } from "./chat-theme.ts";
import type { ChatTui } from "./chat-tui.ts";
import { formatAttachments, formatQuestion, formatSearch, type OpenQuestion, Panel } from "./panels.ts";
import { type AutocompleteProvider, type Component, isKeyRelease, matchesKey } from "./pi-tui.ts";
import { isPaste, PromptEditor } from "./prompt-editor.ts";
import { suspendGroup } from "./terminal-guard.ts";

export type InputListeners = {
  /** A message or a command. */
  readonly onMessage: (text: string) => void;
  /** An answer to the open question, as a line of the line mode. */
  readonly onAnswer: (line: string) => void;
  readonly onPostpone: () => void;
  readonly onInterrupt: () => void;
  readonly onLeave: () => void;
};

export type InputAreaOptions = {
  readonly tui: ChatTui;
  readonly theme: ChatTheme;
  readonly completion: AutocompleteProvider;
  /** Where relative paths in messages begin. */
  readonly folder: string;
  readonly history: readonly string[];
  readonly listeners: InputListeners & { readonly onExpand: () => void };
  readonly getPhase: () => ChatPhase;
};

type QuestionOfCall = OpenQuestion & { readonly call: ApprovalRequest };

/** What the text of the editor is. */
type EditorMode = "message" | "reason" | "arguments";

const LABELS: Readonly<Record<Exclude<EditorMode, "message">, string>> = {
  reason: "Why not? Enter denies the call with this reason; Esc goes back.",
  arguments: "The arguments as JSON. Enter approves the call with them; Esc goes back.",
};

const EXIT_HINT = "Press Ctrl-C again to exit.";

/** Where the user types: the editor, an open question above it, and the search in earlier messages. */
export class InputArea {
  readonly #options: InputAreaOptions;
  readonly #editor: PromptEditor;
  #history: readonly string[];
  #mode: EditorMode = "message";
  /** The message that was being typed when the editor got another use. */
  #draft = "";
  #question: QuestionOfCall | undefined;
  #search: HistorySearch | undefined;
  #interrupt: InterruptState = "calm";
  readonly components: readonly Component[];

  constructor(options: InputAreaOptions) {
    const { tui, theme, completion, folder, history } = options;
    this.#options = options;
    this.#history = history;
    this.#editor = new PromptEditor(tui, theme, folder);
    this.#editor.setAutocompleteProvider(completion);
    for (const text of history) this.#editor.addToHistory(text);
    this.#editor.onMessage = (text) => this.#submit(text);
    this.components = [
      new Panel((width) =>
        this.#question === undefined ? [] : formatQuestion(this.#question, theme, width),
      ),
      new Panel((width) => (this.#search === undefined ? [] : formatSearch(this.#search, theme, width))),
      new Panel(() => (this.#mode === "message" ? [] : [theme.yellow(LABELS[this.#mode])])),
      new Panel((width) =>
        this.#mode === "message" ? formatAttachments(this.#editor.attachments, theme, width) : [],
      ),
      this.#editor,
    ];
    tui.setFocus(this.#editor);
    tui.addInputListener((data) => (this.#handleInput(data) ? { consume: true } : undefined));
  }

  /** What the status line displays instead of the status. */
  get hint(): string | undefined {
    return this.#interrupt === "armed" ? EXIT_HINT : undefined;
  }

  /** Puts a text into the editor if that is empty. */
  offerText(text: string): void {
    if (this.#mode === "message" && this.#editor.isEmpty) this.#editor.setText(text);
    this.#redraw();
  }

  /** A question takes the keys if nothing is being typed. */
  openQuestion(call: ApprovalRequest, whole: boolean): void {
    const { theme } = this.#options;
    const isForm = call.questionRef !== undefined;
    const always = formatCoverage(call)
      .join(", ")
      .replace(/^always: /, "");
    const selector = createSelector({
      always: always === "" ? undefined : always,
      canEdit: true,
      canShow: !whole && isTruncated(call, theme),
      isForm,
    });
    const lines = formatApprovalRequest(call, { paint: theme, whole });
    const before = this.#question;
    const isSame = before !== undefined && getCallKey(before.call) === getCallKey(call);
    const hasFocus = isSame ? before.hasFocus : !this.#isTyping;
    this.#question = { call, lines, selector, hasFocus };
    this.#redraw();
  }

  /** Follows the question: it was answered, or its arguments are to be edited. */
  setPrompt(prompt: DialogPrompt | undefined): void {
    if (prompt?.asks === "arguments") this.#setMode("arguments", formatForEditing(prompt.typed));
    else if (this.#mode !== "message") this.#setMode("message");
    if (prompt === undefined) this.#question = undefined;
    this.#redraw();
  }

  /** Whether a message is being typed, or searched for. */
  get #isTyping(): boolean {
    const text = this.#mode === "message" ? this.#editor.read() : this.#draft;
    return text !== "" || this.#search !== undefined;
  }

  #setMode(mode: EditorMode, text = ""): void {
    if (this.#mode === "message") this.#draft = this.#editor.read();
    this.#mode = mode;
    this.#editor.setText(mode === "message" ? this.#draft : text);
    if (mode === "message") this.#draft = "";
    this.#setFocus(false);
  }

  /** @returns Whether the key is handled; otherwise the editor receives it. */
  #handleInput(data: string): boolean {
    if (isKeyRelease(data)) return false;
    const key = readChatKey(data);
    if (key === "interrupt") return this.#handleInterrupt();
    this.#interrupt = "calm";
    this.#redraw();
    switch (key) {
      case "end":
        return this.#handleEnd();
      case "suspend":
        if (process.platform !== "win32") suspendGroup();
        return true;
      case "expand":
        this.#options.listeners.onExpand();
        return true;
      case "redraw":
        this.#options.tui.redrawAll();
        return true;
      case "remove-attachment":
        if (this.#mode === "message") this.#editor.removeLastAttachment();
        return true;
    }
    if (this.#search !== undefined) return this.#handleSearch(this.#search, data);
    if (key === "search" && this.#mode === "message") {
      this.#search = startSearch(this.#history);
      return true;
    }
    if (key === "escape" && this.#mode !== "message") return this.#leaveMode();
    const question = this.#question;
    if (question === undefined || this.#mode !== "message") return false;
    if (key === "tab" && (question.hasFocus || !this.#editor.isShowingAutocomplete())) {
      this.#setFocus(!question.hasFocus);
      return true;
    }
    return question.hasFocus && this.#handleQuestion(question, data);
  }

  #handleInterrupt(): true {
    const isEmpty = this.#editor.isEmpty && this.#search === undefined;
    const { state, action } = stepInterrupt(this.#interrupt, isEmpty, this.#options.getPhase());
    this.#interrupt = state;
    if (action === "clear") this.#clear();
    else if (action === "interrupt") this.#options.listeners.onInterrupt();
    else if (action === "leave") this.#options.listeners.onLeave();
    this.#redraw();
    return true;
  }

  #clear(): void {
    if (this.#search !== undefined) this.#search = undefined;
    else if (this.#mode === "message") this.#editor.setText("");
    else this.#leaveMode();
  }

  #handleEnd(): boolean {
    if (this.#search !== undefined || stepEndOfInput(this.#editor.isEmpty) === "none") return false;
    this.#options.listeners.onLeave();
    return true;
  }

  #handleSearch(search: HistorySearch, data: string): true {
    if (matchesKey(data, "escape")) this.#search = undefined;
    else if (matchesKey(data, "enter") || matchesKey(data, "tab")) {
      const text = search.found[search.selected];
      if (text !== undefined) this.#editor.setText(text);
      this.#search = undefined;
    } else {
      const key = readSearchKey(data);
      if (key !== undefined) this.#search = stepSearch(search, key, this.#history);
    }
    this.#redraw();
    return true;
  }

  #handleQuestion(question: QuestionOfCall, data: string): boolean {
    const key = isPaste(data) ? undefined : readSelectorKey(data);
    if (key === undefined) {
      this.#setFocus(false);
      return false;
    }
    const { selector, answer, text } = stepSelector(question.selector, key);
    this.#question = { ...question, selector };
    if (text !== undefined) {
      this.#setFocus(false);
      this.#editor.insertTextAtCursor(text);
    }
    if (answer !== undefined) this.#answer(answer);
    this.#redraw();
    return true;
  }

  #answer(answer: Answer): void {
    const { onAnswer, onPostpone } = this.#options.listeners;
    if (answer === "reason") this.#setMode("reason");
    else if (answer === "later") onPostpone();
    else onAnswer(LINES[answer]);
  }

  #submit(text: string): void {
    const { onAnswer, onMessage } = this.#options.listeners;
    if (this.#mode === "message") {
      if (text === "") return;
      this.#history = [...this.#history, text];
      this.#editor.addToHistory(text);
      onMessage(text);
    } else if (this.#mode === "arguments") onAnswer(text);
    else {
      this.#setMode("message");
      onAnswer(text === "" ? LINES.no : `${LINES.no} ${text}`);
    }
  }

  #leaveMode(): true {
    const mode = this.#mode;
    this.#setMode("message");
    this.#setFocus(true);
    if (mode === "arguments") this.#options.listeners.onPostpone();
    this.#redraw();
    return true;
  }

  #setFocus(hasFocus: boolean): void {
    if (this.#question !== undefined) this.#question = { ...this.#question, hasFocus };
    this.#redraw();
  }

  #redraw(): void {
    this.#options.tui.requestRender();
  }
}

/** The answers as lines of the line mode. */
const LINES: Readonly<Record<Exclude<Answer, "reason" | "later">, string>> = {
  yes: "y",
  always: "a",
  no: "n",
  edit: "e",
  show: "s",
};

/** Formats the arguments over several lines, without revealing characters that the one line escapes. */
function formatForEditing(json: string): string {
  try {
    const text = JSON.stringify(JSON.parse(json), undefined, 2);
    return /[^\P{C}\n]/u.test(text) ? json : text;
  } catch {
    return json;
  }
}
