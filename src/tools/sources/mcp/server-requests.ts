import type { Deadline } from "./deadline.ts";
import type { ElicitRequest as AskedOfPerson, Elicit, ElicitResult, Sample } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";

type CallHandlers = { readonly ask?: Elicit | undefined; readonly sample?: Sample | undefined };

const MAX_QUOTED_CHARS = 300;

/** One call that is under way, and who answers what the server asks meanwhile. */
export class PendingCall {
  readonly handlers: CallHandlers;
  readonly notes: string[] = [];
  deadline: Deadline | undefined;

  constructor(handlers: CallHandlers) {
    this.handlers = handlers;
  }

  /** Its request goes out now. */
  begin(deadline: Deadline): void {
    this.deadline = deadline;
  }
}

/**
 * Brings questions of a server to whoever has made the call that they come from. The protocol does not say which call
 * that is: with several under way nobody is asked.
 */
export class ServerRequests {
  readonly #pending = new Set<PendingCall>();

  register(handlers: CallHandlers): PendingCall {
    const call = new PendingCall(handlers);
    this.#pending.add(call);
    return call;
  }

  unregister(call: PendingCall): void {
    this.#pending.delete(call);
  }

  async elicit(question: AskedOfPerson, signal: AbortSignal): Promise<ElicitResult> {
    const call = this.#findOnlyCall();
    const { message } = question;
    const quoted = message.length > MAX_QUOTED_CHARS ? `${message.slice(0, MAX_QUOTED_CHARS)}...` : message;
    if (call?.handlers.ask === undefined) {
      for (const one of this.#listRunning()) {
        one.notes.push(`The server asked a person "${quoted}"; nobody could be asked, and it was told so.`);
      }
      return { type: "decline" };
    }
    call.deadline?.pause();
    try {
      return await call.handlers.ask(question, signal);
    } finally {
      call.deadline?.resume();
    }
  }

  async sample(
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const call = this.#findOnlyCall();
    if (call?.handlers.sample === undefined) {
      for (const one of this.#listRunning()) {
        one.notes.push("The server wanted a model to be asked; there was none that it may ask.");
      }
      throw new McpError("definition", "There is no model here that a server may ask");
    }
    call.deadline?.pause();
    try {
      return await call.handlers.sample(params, signal);
    } finally {
      call.deadline?.resume();
    }
  }

  #listRunning(): readonly PendingCall[] {
    return [...this.#pending].filter(({ deadline }) => deadline !== undefined);
  }

  #findOnlyCall(): PendingCall | undefined {
    const running = this.#listRunning();
    return running.length === 1 ? running[0] : undefined;
  }
}
