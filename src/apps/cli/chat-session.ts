import { HoldfastError } from "../../client/holdfast-error.ts";
import type { AgentDefinitionInput, Holdfast, Prompt, Session } from "../../client/index.ts";
import { isLiveOutput } from "../../client/read/live-events.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { DialogEvent } from "./approval-dialog.ts";
import { buildPromptWithFiles } from "./attachments.ts";
import { ChatApprovals } from "./chat/chat-approvals.ts";
import type { ChatOutput, SentMessage } from "./chat/chat-output.ts";
import { type ChatAction, type ChatEvent, type ChatPhase, stepChat } from "./step-chat.ts";

/** What the runs of a chat start with. */
type ChatOpening = {
  readonly agent: AgentDefinitionInput | undefined;
  /** For the first prompt. */
  readonly title?: string | undefined;
};

/** Reads what a typed message says, and which files it attaches. */
type ReadMessage = (text: string) => { readonly text: string; readonly files: readonly string[] };

/** A conversation at a terminal: performs the typed actions in order, and follows the session. */
export class ChatSession {
  readonly #holdfast: Holdfast;
  readonly #id: string;
  #opening: ChatOpening;
  readonly #surface: ChatOutput;
  readonly #readMessage: ReadMessage;
  readonly #leaveController = new AbortController();
  #phase: ChatPhase = "idle";
  #activeWatch: Promise<void> | undefined;
  #queue: Promise<void> = Promise.resolve();
  readonly #approvals: ChatApprovals;
  readonly left: Promise<ChatPhase>;
  #resolveLeft: (phase: ChatPhase) => void = () => undefined;

  constructor(
    holdfast: Holdfast,
    id: string,
    opening: ChatOpening,
    surface: ChatOutput,
    readMessage: ReadMessage = (text) => ({ text, files: [] }),
  ) {
    this.#readMessage = readMessage;
    this.#holdfast = holdfast;
    this.#id = id;
    this.#opening = opening;
    this.#surface = surface;
    this.#approvals = new ChatApprovals({
      holdfast,
      session: () => this.#session,
      output: surface,
      isRunning: () => this.#phase === "running",
      enqueue: (work) => {
        this.#queue = this.#queue.then(work);
      },
    });
    this.left = new Promise((resolve) => {
      this.#resolveLeft = resolve;
    });
  }

  /**
   * Follows a session that already has an open run.
   *
   * @param from - Where the display of a running loop begins: with its next output, or with all of it.
   */
  async attach(from: "loop" | "now" = "now"): Promise<void> {
    const status = await this.#session.status().catch((error: unknown) => {
      if (error instanceof HoldfastError && error.code === "session-unknown") return undefined;
      throw error;
    });
    if (status?.open !== true) return;
    const isRunning = status.status === "running" || status.status === "needs-approval";
    this.#watchSession(isRunning ? from : "now");
    if (isRunning) this.handleEvent({ type: "began" });
  }

  /** Ends the input: open questions are postponed. */
  endInput(): void {
    this.#approvals.endInput();
  }

  /** Handles an event of the line mode, in which an open question takes the lines. */
  handleEvent(event: ChatEvent): void {
    const toQuestion = this.#toDialogEvent(event);
    if (toQuestion !== undefined) {
      this.#approvals.handleEvent(toQuestion);
      return;
    }
    this.#handle(event);
    if (event.type === "line") this.#surface.prompt(this.#approvals.prompt);
  }

  /** Handles a message or a command, whether or not a question is open. */
  handleMessage(text: string): void {
    this.#handle({ type: "line", text });
  }

  /** Answers the open question, as a line of the line mode does. */
  answerQuestion(text: string): void {
    this.#approvals.handleEvent({ type: "line", text });
  }

  /** Leaves the open questions unanswered, or an edit of arguments. */
  postponeQuestion(): void {
    this.#approvals.handleEvent({ type: "interrupt" });
  }

  /** Stops the run, or leaves one that is stopping, whether or not a question is open. */
  interrupt(): void {
    this.#handle({ type: "interrupt" });
  }

  leave(): void {
    this.#resolveLeft(this.#phase);
  }

  /** While a question is open, Ctrl-C and lines belong to it; commands stay commands. */
  #toDialogEvent(event: ChatEvent): DialogEvent | undefined {
    if (!this.#approvals.isOpen) return undefined;
    if (event.type === "interrupt") return event;
    return event.type === "line" && !event.text.trim().startsWith("/") ? event : undefined;
  }

  #handle(event: ChatEvent): void {
    const { phase, action } = stepChat(this.#phase, event);
    const changed = phase !== this.#phase;
    this.#phase = phase;
    if (changed) this.#approvals.setRunning(phase === "running");
    if (changed) this.#surface.onPhase(phase);
    if (action === undefined) return;
    if (action.type === "leave") this.leave();
    // Stopping does not wait for messages that are being sent.
    else if (action.type === "stop") void this.#performAction(action);
    else this.#queue = this.#queue.then(() => this.#performAction(action));
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
        case "steer":
        case "follow-up":
          return await this.#send(action);
        case "stop":
          return void (await this.#session.stop("interrupted at the terminal"));
        case "status":
          return await this.#surface.showStatus(this.#session);
        case "approvals":
          return this.#approvals.reopen();
        case "help":
          return this.#surface.report(this.#surface.help, "info");
        case "model":
          return await this.#reportModel();
        case "compact":
          return await this.#compact(action.focus);
        case "tell":
          return this.#surface.report(action.text, "warning");
        case "leave":
          return;
      }
    } catch (error) {
      this.#surface.report((error as Error).message, "error");
      if (action.type === "prompt") this.#handle({ type: "ended" });
    }
  }

  async #send(message: SentMessage): Promise<void> {
    const { text, files } = this.#readMessage(message.text);
    const prompt = buildPromptWithFiles(text, files);
    this.#surface.sending?.(message, text);
    try {
      if (message.type === "steer") await this.#session.steer(prompt);
      else if (message.type === "follow-up") await this.#session.followUp(prompt);
      else await this.#startPrompt(prompt);
    } catch (error) {
      this.#surface.notSent?.(message);
      throw error;
    }
  }

  async #startPrompt(prompt: Prompt): Promise<void> {
    const options = {
      mode: "interactive" as const,
      ...omitUndefined({ ...this.#opening }),
    };
    try {
      const { runId } = await this.#session.prompt(prompt, options);
      this.#opening = { agent: this.#opening.agent };
      if (this.#activeWatch === undefined || runId !== undefined) this.#watchSession("loop", runId);
    } catch (error) {
      // Another terminal may have prompted the session first; then this message steers its run.
      if (!(error instanceof HoldfastError) || error.code !== "session-busy") throw error;
      await this.#session.steer(prompt);
      this.#watchSession("now");
    }
  }

  async #reportModel(): Promise<void> {
    const status = await this.#session.status().catch(() => undefined);
    const { id, contextWindow } = this.#opening.agent?.model ?? {};
    const model = status?.model ?? id;
    const window =
      model !== id || contextWindow === undefined
        ? ""
        : ` (context window: ${contextWindow.toLocaleString("en")} tokens)`;
    this.#surface.report(
      model === undefined ? "The model is known after the first message." : `model: ${model}${window}`,
      "info",
    );
  }

  async #compact(focus: string | undefined): Promise<void> {
    const result = await this.#session.compact(omitUndefined({ focus }));
    if (result.by === "own-loop") this.#watchSession("loop", result.runId);
    else this.#surface.report("The context is compacted before the next answer.", "info");
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
        if (item.event.type === "AgentStart") this.#handle({ type: "began" });
        if (item.event.type === "AgentEnd") this.#handle({ type: "ended" });
        this.#approvals.poll();
        if (this.#phase === "idle") this.#onIdle();
      }
    };
    const following = watch()
      .catch((error: Error) => this.#surface.report(error.message, "error"))
      .then(() => {
        if (this.#activeWatch !== following) return;
        this.#activeWatch = undefined;
        this.#handle({ type: "ended" });
        this.#onIdle();
      });
    this.#activeWatch = following;
  }
}
