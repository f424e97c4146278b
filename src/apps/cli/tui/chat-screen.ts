import type { AgentEvent, SessionStatus } from "../../../client/index.ts";
import { getMessageText } from "../../../schema/message-text.ts";
import type { DialogAnswer, DialogPrompt } from "../approval-dialog.ts";
import { type ApprovalRequest, describeCall } from "../approval-view.ts";
import { addNotice, type ChatBlocks, NO_BLOCKS, stepBlocks } from "../chat/chat-blocks.ts";
import { applyStatus, stepFacts } from "../chat/chat-facts.ts";
import type { SentMessage } from "../chat/chat-output.ts";
import { findChatWait } from "../chat/chat-wait.ts";
import { type ChatFacts, formatStatusLine } from "../chat/status-line.ts";
import type { NoticeTone } from "../event-notice.ts";
import type { ChatPhase } from "../step-chat.ts";
import type { ChatTheme } from "./chat-theme.ts";
import { ChatTui } from "./chat-tui.ts";
import { ConversationView } from "./conversation-view.ts";
import { InputArea, type InputListeners } from "./input-area.ts";
import { sanitizeText } from "./line-guard.ts";
import { formatPendingMessages, Panel } from "./panels.ts";
import type { AutocompleteProvider } from "./pi-tui.ts";
import { guardTerminal } from "./terminal-guard.ts";

export type ChatScreenOptions = {
  readonly theme: ChatTheme;
  readonly facts: ChatFacts;
  readonly completion: AutocompleteProvider;
  /** Where relative paths in messages begin. */
  readonly folder: string;
  /** Earlier messages, the oldest first. */
  readonly history: readonly string[];
  readonly listeners: InputListeners;
};

/** A message that the agent has not read yet, with the text that the agent reads. */
type PendingMessage = { readonly message: SentMessage; readonly text: string };

/** The seconds of the status line. */
const TICK_MS = 1_000;

/** The chat's screen: the conversation, what waits to be read, an open question, the editor and the status line. */
export class ChatScreen {
  readonly #tui = new ChatTui();
  readonly #conversation: ConversationView;
  readonly #input: InputArea;
  readonly #live: Panel[];
  #chat: ChatBlocks = NO_BLOCKS;
  #facts: ChatFacts;
  #phase: ChatPhase = "idle";
  #pending: readonly PendingMessage[] = [];
  #waiting = 0;
  #sinceMs = Date.now();
  #isActive = false;
  #ticker: NodeJS.Timeout | undefined;
  #stopGuarding: () => void = () => undefined;

  constructor({ theme, facts, completion, folder, history, listeners }: ChatScreenOptions) {
    this.#facts = facts;
    this.#conversation = new ConversationView(theme);
    this.#input = new InputArea({
      tui: this.#tui,
      theme,
      completion,
      folder,
      history,
      listeners: { ...listeners, onExpand: () => this.#toggleExpansion() },
      getPhase: () => this.#phase,
    });
    this.#live = [
      new Panel((width) =>
        formatPendingMessages(
          this.#pending.map(({ text }) => text),
          theme,
          width,
        ),
      ),
      new Panel(() => [""]),
    ];
    const status = new Panel((width) => [theme.dim(this.#formatStatus(width))]);
    for (const component of [this.#conversation, ...this.#live, ...this.#input.components, status])
      this.#tui.addChild(component);
    this.#live.push(status);
  }

  start(): void {
    this.#stopGuarding = guardTerminal({
      release: () => this.#release(),
      takeBack: () => {
        this.#activate();
        this.#tui.redrawAll();
      },
    });
    this.#activate();
  }

  /** Removes everything except the conversation from the terminal, and gives the terminal back. */
  async stop(): Promise<void> {
    this.#stopGuarding();
    if (!this.#isActive) return;
    clearInterval(this.#ticker);
    for (const component of [...this.#live, ...this.#input.components]) this.#tui.removeChild(component);
    await this.#tui.drawNow();
    // Releases of keys that the terminal still reports would appear in the shell.
    await this.#tui.terminal.drainInput();
    this.#release();
  }

  showEvent(event: AgentEvent, atMs?: number): void {
    if (event.type === "MessageEnd" && event.message.role === "user")
      this.#removePending(getMessageText(event.message));
    if (event.type !== "MessageUpdate" && event.type !== "ToolExecutionUpdate") this.#sinceMs = Date.now();
    this.#facts = stepFacts(this.#facts, event);
    this.#show(stepBlocks(this.#chat, event, atMs));
  }

  showStatus(status: SessionStatus): void {
    this.#facts = applyStatus(this.#facts, status);
    this.#tui.requestRender();
  }

  report(text: string, tone: NoticeTone = "warning"): void {
    this.#show(addNotice(this.#chat, text, tone));
  }

  setPhase(phase: ChatPhase): void {
    this.#phase = phase;
    this.#sinceMs = Date.now();
    clearInterval(this.#ticker);
    if (phase !== "idle") this.#ticker = setInterval(() => this.#tui.requestRender(), TICK_MS);
    // A prompt that was rejected joins no conversation.
    else this.#pending = this.#pending.filter(({ message }) => message.type !== "prompt");
    this.#tui.requestRender();
  }

  setWaiting(calls: readonly ApprovalRequest[]): void {
    this.#waiting = calls.length;
    this.#tui.requestRender();
  }

  askApproval(call: ApprovalRequest, whole: boolean): void {
    this.#input.openQuestion(call, whole);
  }

  setPrompt(prompt: DialogPrompt | undefined): void {
    this.#input.setPrompt(prompt);
  }

  /** Notes an answer in the conversation. */
  showAnswer(call: ApprovalRequest, answer: DialogAnswer): void {
    const reason = answer.type === "deny" && answer.reason !== undefined ? ` (${answer.reason})` : "";
    this.report(`${formatAnswer(answer)}: ${describeCall(call)}${reason}`, "info");
  }

  /** @param text - The text that the agent reads. */
  addPending(message: SentMessage, text: string): void {
    this.#pending = [...this.#pending, { message, text }];
    this.#tui.requestRender();
  }

  /** A message was not accepted: it returns to the editor. */
  returnPending(message: SentMessage): void {
    this.#pending = this.#pending.filter((one) => one.message !== message);
    this.#input.offerText(message.text);
  }

  #removePending(text: string): void {
    const index = this.#pending.findIndex((one) => one.text.trim() === text.trim());
    if (index >= 0) this.#pending = this.#pending.toSpliced(index, 1);
  }

  #show(chat: ChatBlocks): void {
    this.#chat = chat;
    this.#tui.dropLines(this.#conversation.setBlocks(chat.blocks));
    this.#tui.requestRender();
  }

  #toggleExpansion(): void {
    this.#conversation.isExpanded = !this.#conversation.isExpanded;
    this.#tui.reprint();
  }

  #formatStatus(width: number): string {
    const { hint } = this.#input;
    if (hint !== undefined) return hint;
    const nowMs = Date.now();
    const wait = findChatWait(
      {
        phase: this.#phase,
        approvals: this.#waiting,
        blocks: this.#chat.blocks,
        sinceMs: this.#sinceMs,
        pending: this.#facts.pending,
      },
      nowMs,
    );
    return sanitizeText(formatStatusLine(this.#facts, wait, width, nowMs));
  }

  #activate(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.#tui.start();
  }

  #release(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#tui.stop();
  }
}

function formatAnswer(answer: DialogAnswer): string {
  if (answer.type === "deny") return "denied";
  if (answer.arguments !== undefined) return "approved with edited arguments";
  return answer.always === true ? "approved, and always as displayed" : "approved";
}
