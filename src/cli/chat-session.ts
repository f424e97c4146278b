import {
  type AgentDefinitionInput,
  type Holdfast,
  HoldfastError,
  type Session,
  type WatchItem,
} from "../client/index.ts";
import { CHAT_HELP, type ChatAction, type ChatEvent, type ChatPhase, chatStep } from "./chat-lines.ts";

export type ChatSurface = {
  readonly show: (item: WatchItem) => void;
  readonly tell: (text: string) => void;
  readonly phase: (phase: ChatPhase) => void;
  readonly status: (session: Session) => Promise<void>;
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
  readonly left: Promise<ChatPhase>;
  #resolveLeft: (phase: ChatPhase) => void = () => undefined;

  constructor(holdfast: Holdfast, id: string, agent: AgentDefinitionInput | undefined, surface: ChatSurface) {
    this.#holdfast = holdfast;
    this.#id = id;
    this.#agent = agent;
    this.#surface = surface;
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
    if (status.status === "running") this.hear({ type: "began" });
  }

  hear(event: ChatEvent): void {
    const { phase, action } = chatStep(this.#phase, event);
    const changed = phase !== this.#phase;
    this.#phase = phase;
    if (changed) this.#surface.phase(phase);
    if (action === undefined) return;
    if (action.type === "leave") {
      this.#resolveLeft(this.#phase);
      return;
    }
    // Stopping does not wait for what is being sent.
    if (action.type === "stop") void this.#carryOut(action);
    else this.#work = this.#work.then(() => this.#carryOut(action));
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
