import type { Deadline } from "../../../platform/async/deadline.ts";
import type { ElicitRequest as AskedOfPerson, Elicit, ElicitResult, Sample } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";

type CallHandlers = { readonly elicit?: Elicit | undefined; readonly sample?: Sample | undefined };

const MAX_QUOTED_CHARS = 300;

/** A pending call, with the handlers of the server's requests during it. */
export class PendingCall {
  readonly handlers: CallHandlers;
  readonly notes: string[] = [];
  deadline: Deadline | undefined;

  constructor(handlers: CallHandlers) {
    this.handlers = handlers;
  }

  /** Marks the moment when the request is sent. */
  begin(deadline: Deadline): void {
    this.deadline = deadline;
  }
}

/**
 * Routes a server's requests to the caller whose call caused them. The protocol does not specify which call
 * that is: if several are pending, no caller is asked.
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
    if (call?.handlers.elicit === undefined) {
      for (const one of this.#listRunning()) {
        one.notes.push(
          `The server asked the user "${quoted}"; no user could be asked, so the request was declined.`,
        );
      }
      return { type: "decline" };
    }
    call.deadline?.pause();
    try {
      return await call.handlers.elicit(question, signal);
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
        one.notes.push("The server requested a call of a model; no model is available to it.");
      }
      throw new McpError("definition", "No model is available to this server");
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
