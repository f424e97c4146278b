import { createInterface, type Interface } from "node:readline";
import type { Holdfast, Session } from "../../client/index.ts";
import { readApprovalRequests, sendAnswer } from "./approval-answers.ts";
import {
  type DialogAction,
  type DialogEvent,
  EMPTY_DIALOG,
  getPrompt,
  stepDialog,
} from "./approval-dialog.ts";
import { ApprovalPoller } from "./approval-poller.ts";
import { type ApprovalRequest, formatApprovalRequest, formatWaitingCall } from "./approval-view.ts";
import type { Context } from "./context.ts";
import { print } from "./output.ts";

export type RunApprovalsOptions = {
  readonly context: Context;
  readonly holdfast: Holdfast;
  readonly session: Session;
  /** Ends an incomplete line of the display. */
  readonly endLine: () => void;
};

/** Asks at the terminal about calls that wait for approval, while their run is displayed there. */
export class RunApprovals {
  readonly #options: RunApprovalsOptions;
  readonly #poller: ApprovalPoller<ApprovalRequest>;
  #dialog = EMPTY_DIALOG;
  #lines: Interface | undefined;

  constructor(options: RunApprovalsOptions) {
    this.#options = options;
    this.#poller = new ApprovalPoller(
      () => readApprovalRequests(options.session),
      (calls) => this.#handleEvent({ type: "waiting", calls }),
    );
  }

  start(): void {
    this.#poller.start();
  }

  poll(): void {
    this.#poller.poll();
  }

  stop(): void {
    this.#poller.stop();
    this.#endInput();
  }

  #handleEvent(event: DialogEvent): void {
    const { dialog, actions } = stepDialog(this.#dialog, event);
    this.#dialog = dialog;
    for (const action of actions) this.#perform(action);
    const question = getPrompt(dialog);
    if (question === undefined) this.#endInput();
    else if (actions.length > 0 || event.type === "line") this.#ask(question);
  }

  #ask({ prompt, typed }: NonNullable<ReturnType<typeof getPrompt>>): void {
    const { stdin, stderr } = this.#options.context.streams;
    if (this.#lines === undefined) {
      // The terminal echoes and edits the line itself: Ctrl-C stays a signal, which stops the run.
      this.#lines = createInterface({ input: stdin, terminal: false });
      this.#lines.on("line", (text) => this.#handleEvent({ type: "line", text }));
    }
    if (typed !== "") print(stderr, `${typed}\n`);
    print(stderr, prompt);
  }

  #endInput(): void {
    this.#lines?.close();
    this.#lines = undefined;
  }

  #perform(action: DialogAction): void {
    const { context, endLine } = this.#options;
    endLine();
    switch (action.type) {
      case "ask":
        for (const line of formatApprovalRequest(action.call, { paint: context.err, whole: action.whole }))
          context.report(line);
        return;
      case "left":
        for (const call of action.calls)
          for (const line of formatWaitingCall(call, { options: context.options })) context.report(line);
        return;
      case "tell":
        context.report(context.err.yellow(action.text));
        return;
      case "answer":
        void this.#send(action);
        return;
    }
  }

  async #send({ call, answer }: Extract<DialogAction, { type: "answer" }>): Promise<void> {
    const { context, holdfast } = this.#options;
    try {
      await sendAnswer(holdfast, call, answer);
    } catch (error) {
      context.report((error as Error).message);
      this.#handleEvent({ type: "not-taken", call });
    }
    this.#poller.poll();
  }
}
