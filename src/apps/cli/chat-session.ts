import {
  type AgentDefinitionInput,
  type Holdfast,
  HoldfastError,
  type Session,
  type SessionEvent,
} from "../../client/index.ts";
import { isLiveOutput } from "../../client/read/live-events.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { readApprovalRequests, sendAnswer } from "./approval-answers.ts";
import {
  type DialogAction,
  type DialogEvent,
  EMPTY_DIALOG,
  getPrompt,
  stepDialog,
} from "./approval-dialog.ts";
import { ApprovalPoller } from "./approval-poller.ts";
import type { ApprovalRequest } from "./approval-view.ts";
import { CHAT_HELP, type ChatAction, type ChatEvent, type ChatPhase, stepChat } from "./step-chat.ts";

export type ChatOutput = {
  readonly show: (item: SessionEvent) => void;
  readonly report: (text: string) => void;
  readonly onPhase: (phase: ChatPhase) => void;
  readonly showStatus: (session: Session) => Promise<void>;
  /** Displays a call that waits for approval. */
  readonly showApproval: (call: ApprovalRequest, whole: boolean) => void;
  /** Reports postponed calls, and how to answer them elsewhere. */
  readonly left: (calls: readonly ApprovalRequest[]) => void;
  /** Sets the prompt of an open question; undefined when no question is open. */
  readonly prompt: (prompt: { readonly prompt: string; readonly typed: string } | undefined) => void;
};

/** A conversation at a terminal: performs the typed actions in order, and follows the session. */
export class ChatSession {
  readonly #holdfast: Holdfast;
  readonly #id: string;
  readonly #agent: AgentDefinitionInput | undefined;
  readonly #surface: ChatOutput;
  readonly #leaveController = new AbortController();
  #phase: ChatPhase = "idle";
  #activeWatch: Promise<void> | undefined;
  #queue: Promise<void> = Promise.resolve();
  #dialog = EMPTY_DIALOG;
  #inputEnded = false;
  readonly #approvals: ApprovalPoller<ApprovalRequest>;
  readonly left: Promise<ChatPhase>;
  #resolveLeft: (phase: ChatPhase) => void = () => undefined;

  constructor(holdfast: Holdfast, id: string, agent: AgentDefinitionInput | undefined, surface: ChatOutput) {
    this.#holdfast = holdfast;
    this.#id = id;
    this.#agent = agent;
    this.#surface = surface;
    this.#approvals = new ApprovalPoller(
      () => readApprovalRequests(this.#session),
      (calls) => this.#handleDialogEvent({ type: "waiting", calls }),
    );
    this.left = new Promise((resolve) => {
      this.#resolveLeft = resolve;
    });
  }

  /** Follows a session that already has an open run. */
  async attach(): Promise<void> {
    const status = await this.#session.status().catch((error: unknown) => {
      if (error instanceof HoldfastError && error.code === "session-unknown") return undefined;
      throw error;
    });
    if (status?.open !== true) return;
    this.#watchSession("now");
    if (status.status === "running" || status.status === "needs-approval")
      this.handleEvent({ type: "began" });
  }

  /** Ends the input: open questions are postponed. */
  endInput(): void {
    this.#inputEnded = true;
    this.#handleDialogEvent({ type: "interrupt" });
  }

  handleEvent(event: ChatEvent): void {
    const toQuestion = this.#toDialogEvent(event);
    if (toQuestion !== undefined) {
      this.#handleDialogEvent(toQuestion);
      return;
    }
    const { phase, action } = stepChat(this.#phase, event);
    const changed = phase !== this.#phase;
    this.#phase = phase;
    if (changed) this.#watchApprovals();
    if (changed) this.#surface.onPhase(phase);
    if (event.type === "line") this.#surface.prompt(getPrompt(this.#dialog));
    if (action === undefined) return;
    if (action.type === "leave") {
      this.#resolveLeft(this.#phase);
      return;
    }
    // Stopping does not wait for messages that are being sent.
    if (action.type === "stop") void this.#performAction(action);
    else this.#queue = this.#queue.then(() => this.#performAction(action));
  }

  /** While a question is open, Ctrl-C and lines belong to it; commands stay commands. */
  #toDialogEvent(event: ChatEvent): DialogEvent | undefined {
    if (this.#dialog.current === undefined) return undefined;
    if (event.type === "interrupt") return event;
    return event.type === "line" && !event.text.trim().startsWith("/") ? event : undefined;
  }

  #handleDialogEvent(event: DialogEvent): void {
    const before = getPrompt(this.#dialog);
    const { dialog, actions } = stepDialog(this.#dialog, event);
    this.#dialog = dialog;
    for (const action of actions) this.#performDialogAction(action);
    const after = getPrompt(this.#dialog);
    // Text that is typed into a question stays until another question replaces it.
    const isSame = before?.prompt === after?.prompt && actions.length === 0 && event.type !== "line";
    if (!isSame) this.#surface.prompt(after);
    if (this.#inputEnded && after !== undefined) this.#handleDialogEvent({ type: "interrupt" });
  }

  #performDialogAction(action: DialogAction): void {
    switch (action.type) {
      case "ask":
        if (!this.#inputEnded) this.#surface.showApproval(action.call, action.whole);
        return;
      case "left":
        this.#surface.left(action.calls);
        return;
      case "tell":
        // A run that is stopping no longer asks questions, and the user knows the reason.
        if (this.#phase === "running") this.#surface.report(action.text);
        return;
      case "answer":
        this.#queue = this.#queue.then(() => this.#sendAnswer(action));
        return;
    }
  }

  async #sendAnswer({ call, answer }: Extract<DialogAction, { type: "answer" }>): Promise<void> {
    try {
      await sendAnswer(this.#holdfast, call, answer);
    } catch (error) {
      this.#surface.report((error as Error).message);
      this.#handleDialogEvent({ type: "not-taken", call });
    }
    this.#approvals.poll();
  }

  #watchApprovals(): void {
    if (this.#phase === "running") {
      this.#approvals.start();
      return;
    }
    this.#approvals.stop();
    this.#handleDialogEvent({ type: "waiting", calls: [] });
  }

  /** Resolves when all typed messages are sent and no loop runs. */
  async waitUntilIdle(): Promise<void> {
    await this.#queue;
    while (this.#phase !== "idle" && this.#activeWatch !== undefined) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
  }
  #onIdle: () => void = () => undefined;

  /** Ends the watch, and stops a run that waits for a prompt, so that no idle run remains. */
  async close(): Promise<void> {
    if (this.#phase === "idle" && this.#activeWatch !== undefined) {
      await this.#session.stop("the user left the terminal").catch(() => false);
      await Promise.race([this.#activeWatch, this.#session.tryResult().catch(() => undefined)]);
    }
    this.#approvals.stop();
    this.#leaveController.abort();
    await this.#activeWatch;
  }

  get #session(): Session {
    return this.#holdfast.session(this.#id);
  }

  async #performAction(action: ChatAction): Promise<void> {
    try {
      switch (action.type) {
        case "prompt":
          return await this.#startPrompt(action.text);
        case "steer":
          return void (await this.#session.steer(action.text));
        case "follow-up":
          return void (await this.#session.followUp(action.text));
        case "stop":
          return void (await this.#session.stop("interrupted at the terminal"));
        case "status":
          return await this.#surface.showStatus(this.#session);
        case "approvals":
          return this.#reopenApprovals();
        case "help":
          return this.#surface.report(CHAT_HELP);
        case "tell":
          return this.#surface.report(action.text);
        case "leave":
          return;
      }
    } catch (error) {
      this.#surface.report((error as Error).message);
      if (action.type === "prompt") this.handleEvent({ type: "ended" });
    }
  }

  async #startPrompt(text: string): Promise<void> {
    const options = {
      mode: "interactive" as const,
      ...omitUndefined({ agent: this.#agent }),
    };
    try {
      const { runId } = await this.#session.prompt(text, options);
      if (this.#activeWatch === undefined || runId !== undefined) this.#watchSession("loop", runId);
    } catch (error) {
      // Another terminal may have prompted the session first; then this message steers its run.
      if (!(error instanceof HoldfastError) || error.code !== "session-busy") throw error;
      await this.#session.steer(text);
      this.#watchSession("now");
    }
  }

  #reopenApprovals(): void {
    if (this.#dialog.postponed.length === 0 && this.#dialog.current === undefined)
      this.#surface.report("Nothing waits for your word.");
    else this.#handleDialogEvent({ type: "again" });
  }

  #watchSession(from: "loop" | "now", runId?: string): void {
    if (this.#activeWatch !== undefined && runId === undefined) return;
    const signal = this.#leaveController.signal;
    const watch = async (): Promise<void> => {
      for await (const item of this.#session.events({
        from,
        signal,
        ...omitUndefined({ runId }),
      })) {
        this.#surface.show(item);
        if (isLiveOutput(item.event)) continue;
        if (item.event.type === "AgentStart") this.handleEvent({ type: "began" });
        if (item.event.type === "AgentEnd") this.handleEvent({ type: "ended" });
        this.#approvals.poll();
        if (this.#phase === "idle") this.#onIdle();
      }
    };
    const following = watch()
      .catch((error: Error) => this.#surface.report(error.message))
      .then(() => {
        if (this.#activeWatch !== following) return;
        this.#activeWatch = undefined;
        this.handleEvent({ type: "ended" });
        this.#onIdle();
      });
    this.#activeWatch = following;
  }
}
