import type { Answer, Ask, Question as AskedOfPerson, Sample } from "./connection.ts";
import { McpError } from "./error.ts";
import type { Patience } from "./patience.ts";

type Handlers = { readonly ask?: Ask | undefined; readonly sample?: Sample | undefined };

const MAX_SHOWN_CHARS = 300;

/** One call that is under way, and who answers what the server asks meanwhile. */
export class Question {
  readonly handlers: Handlers;
  readonly notes: string[] = [];
  patience: Patience | undefined;

  constructor(handlers: Handlers) {
    this.handlers = handlers;
  }

  /** Its request goes out now. */
  begin(patience: Patience): void {
    this.patience = patience;
  }
}

/**
 * Brings questions of a server to whoever has made the call that they come from. The protocol does not say which call
 * that is: with several under way nobody is asked.
 */
export class Questions {
  readonly #open = new Set<Question>();

  open(handlers: Handlers): Question {
    const call = new Question(handlers);
    this.#open.add(call);
    return call;
  }

  close(call: Question): void {
    this.#open.delete(call);
  }

  async ask(question: AskedOfPerson, signal: AbortSignal): Promise<Answer> {
    const call = this.#only();
    const { message } = question;
    const shown = message.length > MAX_SHOWN_CHARS ? `${message.slice(0, MAX_SHOWN_CHARS)}...` : message;
    if (call?.handlers.ask === undefined) {
      for (const one of this.#running()) {
        one.notes.push(`The server asked a person "${shown}"; nobody could be asked, and it was told so.`);
      }
      return { type: "decline" };
    }
    call.patience?.pause();
    try {
      return await call.handlers.ask(question, signal);
    } finally {
      call.patience?.resume();
    }
  }

  async sample(
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const call = this.#only();
    if (call?.handlers.sample === undefined) {
      for (const one of this.#running()) {
        one.notes.push("The server wanted a model to be asked; there was none that it may ask.");
      }
      throw new McpError("definition", "There is no model here that a server may ask");
    }
    call.patience?.pause();
    try {
      return await call.handlers.sample(params, signal);
    } finally {
      call.patience?.resume();
    }
  }

  #running(): readonly Question[] {
    return [...this.#open].filter(({ patience }) => patience !== undefined);
  }

  #only(): Question | undefined {
    const running = this.#running();
    return running.length === 1 ? running[0] : undefined;
  }
}
