import {
  type AgentDefinitionInput,
  type Holdfast,
  HoldfastError,
  type Session,
  type WatchItem,
} from "../../client/index.ts";
import {
  NO_QUESTIONS,
  promptOf,
  type QuestionAction,
  type QuestionEvent,
  questionStep,
} from "./approval-questions.ts";
import { comparedPath, type Question } from "./approval-view.ts";
import { ApprovalWatch } from "./approval-watch.ts";
import { CHAT_HELP, type ChatAction, type ChatEvent, type ChatPhase, chatStep } from "./chat-lines.ts";
import { presentFile } from "./present-file.ts";

export type ChatSurface = {
  readonly show: (item: WatchItem) => void;
  readonly tell: (text: string) => void;
  readonly phase: (phase: ChatPhase) => void;
  readonly status: (session: Session) => Promise<void>;
  /** Shows a call that waits for the person's word. */
  readonly question: (call: Question, whole: boolean) => void;
  /** Calls that wait were left open: how they can be answered elsewhere. */
  readonly left: (calls: readonly Question[]) => void;
  /** What stands before the line while a question is asked; nothing when none is. */
  readonly prompt: (prompt: { readonly prompt: string; readonly typed: string } | undefined) => void;
};

/** One conversation at a terminal: carries out what lines mean, one after the other, and follows the session. */
export class ChatSession {
  readonly #holdfast: Holdfast;
  readonly #id: string;
  readonly #agent: AgentDefinitionInput | undefined;
  readonly #surface: ChatSurface;
  readonly #leave = new AbortController();
  #phase: ChatPhase = "idle";
  #following: Promise<void> | undefined;
  #work: Promise<void> = Promise.resolve();
  #questions = NO_QUESTIONS;
  #inputEnded = false;
  readonly #approvals: ApprovalWatch<Question>;
  readonly left: Promise<ChatPhase>;
  #resolveLeft: (phase: ChatPhase) => void = () => undefined;

  constructor(holdfast: Holdfast, id: string, agent: AgentDefinitionInput | undefined, surface: ChatSurface) {
    this.#holdfast = holdfast;
    this.#id = id;
    this.#agent = agent;
    this.#surface = surface;
    this.#approvals = new ApprovalWatch(
      () => this.#readQuestions(),
      (calls) => this.#question({ type: "waiting", calls }),
    );
    this.left = new Promise((resolve) => {
      this.#resolveLeft = resolve;
    });
  }

  /** Takes up a session that has a run open already. */
  async takeUp(): Promise<void> {
    const status = await this.#session.status().catch((error: unknown) => {
      if (error instanceof HoldfastError && error.code === "session-unknown") return undefined;
      throw error;
    });
    if (status?.open !== true) return;
    this.#follow("now");
    if (status.status === "running" || status.status === "needs-approval") this.hear({ type: "began" });
  }

  /** Nobody can answer here any more. */
  inputEnded(): void {
    this.#inputEnded = true;
    this.#question({ type: "interrupt" });
  }

  hear(event: ChatEvent): void {
    const toQuestion = this.#forQuestion(event);
    if (toQuestion !== undefined) {
      this.#question(toQuestion);
      return;
    }
    const { phase, action } = chatStep(this.#phase, event);
    const changed = phase !== this.#phase;
    this.#phase = phase;
    if (changed) this.#followApprovals();
    if (changed) this.#surface.phase(phase);
    if (event.type === "line") this.#surface.prompt(promptOf(this.#questions));
    if (action === undefined) return;
    if (action.type === "leave") {
      this.#resolveLeft(this.#phase);
      return;
    }
    // Stopping does not wait for what is being sent.
    if (action.type === "stop") void this.#carryOut(action);
    else this.#work = this.#work.then(() => this.#carryOut(action));
  }

  /** While a question is asked, Ctrl-C and lines belong to it; commands stay commands. */
  #forQuestion(event: ChatEvent): QuestionEvent | undefined {
    if (this.#questions.asked === undefined) return undefined;
    if (event.type === "interrupt") return event;
    return event.type === "line" && !event.text.trim().startsWith("/") ? event : undefined;
  }

  #question(event: QuestionEvent): void {
    const before = promptOf(this.#questions);
    const { questions, actions } = questionStep(this.#questions, event);
    this.#questions = questions;
    for (const action of actions) this.#carryOutQuestion(action);
    const after = promptOf(this.#questions);
    // What is being typed into the question stays, unless another takes its place.
    const isSame = before?.prompt === after?.prompt && actions.length === 0 && event.type !== "line";
    if (!isSame) this.#surface.prompt(after);
    if (this.#inputEnded && after !== undefined) this.#question({ type: "interrupt" });
  }

  #carryOutQuestion(action: QuestionAction): void {
    switch (action.type) {
      case "ask":
        if (!this.#inputEnded) this.#surface.question(action.call, action.whole);
        return;
      case "left":
        this.#surface.left(action.calls);
        return;
      case "tell":
        // A run that is being stopped asks for nothing any more, and everybody knows why.
        if (this.#phase === "running") this.#surface.tell(action.text);
        return;
      case "answer":
        this.#work = this.#work.then(() => this.#answer(action));
        return;
    }
  }

  async #answer({ call, answer }: Extract<QuestionAction, { type: "answer" }>): Promise<void> {
    try {
      const whose = this.#holdfast.session(call.session);
      if (call.question !== undefined) {
        const values = answer.type === "refuse" ? undefined : (answer.arguments ?? {});
        await whose.answer(call.toolCallId, values === undefined ? { answer: "decline" } : { values });
      } else if (answer.type === "refuse") await whose.refuse(call.toolCallId, answer);
      else await whose.approve(call.toolCallId, answer);
    } catch (error) {
      this.#surface.tell((error as Error).message);
      this.#question({ type: "not-taken", call });
    }
    this.#approvals.look();
  }

  async #readQuestions(): Promise<readonly Question[]> {
    const calls = await this.#session.approvals();
    return Promise.all(
      calls.map(async (call) => {
        const path = comparedPath(call);
        if (path === undefined || call.workspace === undefined) return call;
        return { ...call, present: await presentFile(call.workspace, path) };
      }),
    );
  }

  #followApprovals(): void {
    if (this.#phase === "running") {
      this.#approvals.start();
      return;
    }
    this.#approvals.stop();
    this.#question({ type: "waiting", calls: [] });
  }

  /** Resolves when everything that was typed has been sent, and no loop runs. */
  async settled(): Promise<void> {
    await this.#work;
    while (this.#phase !== "idle" && this.#following !== undefined) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
  }
  #onIdle: () => void = () => undefined;

  /** Ends the watching; a run that waits for a prompt is ended too, so that nothing is left behind. */
  async close(): Promise<void> {
    if (this.#phase === "idle" && this.#following !== undefined) {
      await this.#session.stop("the terminal was left").catch(() => false);
      await Promise.race([this.#following, this.#session.result().catch(() => undefined)]);
    }
    this.#approvals.stop();
    this.#leave.abort();
    await this.#following;
  }

  get #session(): Session {
    return this.#holdfast.session(this.#id);
  }

  async #carryOut(action: ChatAction): Promise<void> {
    try {
      switch (action.type) {
        case "prompt":
          return await this.#prompt(action.text);
        case "steer":
          return void (await this.#session.steer(action.text));
        case "follow-up":
          return void (await this.#session.followUp(action.text));
        case "stop":
          return void (await this.#session.stop("interrupted at the terminal"));
        case "status":
          return await this.#surface.status(this.#session);
        case "approvals":
          return this.#askAgain();
        case "help":
          return this.#surface.tell(CHAT_HELP);
        case "tell":
          return this.#surface.tell(action.text);
        case "leave":
          return;
      }
    } catch (error) {
      this.#surface.tell((error as Error).message);
      if (action.type === "prompt") this.hear({ type: "ended" });
    }
  }

  async #prompt(text: string): Promise<void> {
    const options = {
      mode: "interactive" as const,
      ...(this.#agent === undefined ? {} : { agent: this.#agent }),
    };
    try {
      const { runId } = await this.#session.prompt(text, options);
      if (this.#following === undefined || runId !== undefined) this.#follow("loop", runId);
    } catch (error) {
      // Another terminal may have been quicker; then these words steer.
      if (!(error instanceof HoldfastError) || error.code !== "session-busy") throw error;
      await this.#session.steer(text);
      this.#follow("now");
    }
  }

  #askAgain(): void {
    if (this.#questions.left.length === 0 && this.#questions.asked === undefined)
      this.#surface.tell("Nothing waits for your word.");
    else this.#question({ type: "again" });
  }

  #follow(from: "loop" | "now", runId?: string): void {
    if (this.#following !== undefined && runId === undefined) return;
    const signal = this.#leave.signal;
    const watch = async (): Promise<void> => {
      for await (const item of this.#session.watch({
        from,
        signal,
        ...(runId === undefined ? {} : { runId }),
      })) {
        this.#surface.show(item);
        if (item.type !== "event") continue;
        if (item.event.body.type === "AgentStart") this.hear({ type: "began" });
        if (item.event.body.type === "AgentEnd") this.hear({ type: "ended" });
        this.#approvals.look();
        if (this.#phase === "idle") this.#onIdle();
      }
    };
    const following = watch()
      .catch((error: Error) => this.#surface.tell(error.message))
      .then(() => {
        if (this.#following !== following) return;
        this.#following = undefined;
        this.hear({ type: "ended" });
        this.#onIdle();
      });
    this.#following = following;
  }
}
