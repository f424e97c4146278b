import type { Holdfast, Session } from "../../../client/index.ts";
import { readApprovalRequests, sendAnswer } from "../approval-answers.ts";
import {
  type DialogAction,
  type DialogEvent,
  type DialogPrompt,
  EMPTY_DIALOG,
  getPrompt,
  stepDialog,
} from "../approval-dialog.ts";
import { ApprovalPoller } from "../approval-poller.ts";
import type { ApprovalRequest } from "../approval-view.ts";
import type { ChatOutput } from "./chat-output.ts";

export type ChatApprovalsOptions = {
  readonly holdfast: Holdfast;
  readonly session: () => Session;
  readonly output: ChatOutput;
  /** A run that is stopping no longer asks questions, and the user knows the reason. */
  readonly isRunning: () => boolean;
  /** Performs work after the user's earlier actions. */
  readonly enqueue: (work: () => Promise<void>) => void;
};

/** The questions of a conversation: observes what waits for the user, asks, and sends the answers. */
export class ChatApprovals {
  readonly #options: ChatApprovalsOptions;
  readonly #poller: ApprovalPoller<ApprovalRequest>;
  #dialog = EMPTY_DIALOG;
  #inputEnded = false;

  constructor(options: ChatApprovalsOptions) {
    this.#options = options;
    this.#poller = new ApprovalPoller(
      () => readApprovalRequests(options.session()),
      (calls) => {
        options.output.onWaiting?.(calls);
        this.handleEvent({ type: "waiting", calls });
      },
    );
  }

  get isOpen(): boolean {
    return this.#dialog.current !== undefined;
  }

  get prompt(): DialogPrompt | undefined {
    return getPrompt(this.#dialog);
  }

  poll(): void {
    this.#poller.poll();
  }

  setRunning(running: boolean): void {
    if (running) {
      this.#poller.start();
      return;
    }
    this.#poller.stop();
    this.#options.output.onWaiting?.([]);
    this.handleEvent({ type: "waiting", calls: [] });
  }

  stop(): void {
    this.#poller.stop();
  }

  /** Ends the input: open questions are postponed. */
  endInput(): void {
    this.#inputEnded = true;
    this.handleEvent({ type: "interrupt" });
  }

  /** Asks the postponed questions again. */
  reopen(): void {
    if (this.#dialog.postponed.length === 0 && !this.isOpen)
      this.#options.output.report("Nothing waits for your approval.", "info");
    else this.handleEvent({ type: "again" });
  }

  handleEvent(event: DialogEvent): void {
    const before = this.prompt;
    const { dialog, actions } = stepDialog(this.#dialog, event);
    this.#dialog = dialog;
    for (const action of actions) this.#perform(action);
    const after = this.prompt;
    // Text that is typed into a question stays until another question replaces it.
    const isSame = before?.prompt === after?.prompt && actions.length === 0 && event.type !== "line";
    if (!isSame) this.#options.output.prompt(after);
    if (this.#inputEnded && after !== undefined) this.handleEvent({ type: "interrupt" });
  }

  #perform(action: DialogAction): void {
    const { output, isRunning, enqueue } = this.#options;
    switch (action.type) {
      case "ask":
        if (!this.#inputEnded) output.showApproval(action.call, action.whole);
        return;
      case "left":
        output.left(action.calls);
        return;
      case "tell":
        if (isRunning()) output.report(action.text, "warning");
        return;
      case "answer":
        output.onAnswer?.(action.call, action.answer);
        enqueue(() => this.#sendAnswer(action));
        return;
    }
  }

  async #sendAnswer({ call, answer }: Extract<DialogAction, { type: "answer" }>): Promise<void> {
    const { holdfast, output } = this.#options;
    try {
      await sendAnswer(holdfast, call, answer);
    } catch (error) {
      output.report((error as Error).message, "error");
      this.handleEvent({ type: "not-taken", call });
    }
    this.#poller.poll();
  }
}
