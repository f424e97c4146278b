import { ServerProblem } from "./problem.ts";
import { ReaderGoneError, ResponseStream, type ResponseStreamOptions } from "./response-stream.ts";
import { formatComment, formatRetry, RETRY_MS } from "./sse-frame.ts";

export type StreamRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes to one reader until it returns. */
  readonly write: (outlet: ResponseStream) => Promise<void>;
  /**
   * How a stream ends with the server: `end` where a reader takes an end for a reason to come back, `cut` where it would
   * take it for the end of what it reads.
   */
  readonly atClose: "end" | "cut";
  /** Takes the connection away. */
  readonly drop: () => void;
};

export type StreamLimits = Pick<ResponseStreamOptions, "stallMs" | "heartbeatMs"> & {
  /** Open at the same time. */
  readonly maxStreams: number;
};

/** Below the 30 s after which common proxies take a silent connection for dead. */
const HEARTBEAT_MS = 15_000;
/** Longer than a hiccup of a mobile network. */
const STALL_MS = 20_000;
/** For the last words when the server closes. */
const CLOSE_NOTICE_MS = 1_000;

export const DEFAULT_LIMITS: StreamLimits = {
  maxStreams: 256,
  heartbeatMs: HEARTBEAT_MS,
  stallMs: STALL_MS,
};

/** All streams that are open, so that there are not too many, and that they end when the server does. */
export class OpenStreams {
  readonly #limits: StreamLimits;
  /** What became of a stream that broke, for whoever runs the server. */
  readonly #reportError: (error: unknown) => void;
  readonly #open = new Map<
    ResponseStream,
    { readonly told: Promise<void>; readonly atClose: StreamRequest["atClose"] }
  >();
  #closing = false;

  constructor(limits: StreamLimits, tell: (error: unknown) => void) {
    this.#limits = limits;
    this.#reportError = tell;
  }

  get size(): number {
    return this.#open.size;
  }

  /** @throws {ServerProblem} when there are too many. */
  open({ headers = {}, write: tell, atClose, drop }: StreamRequest): Response {
    if (this.#closing) throw createClosingProblem();
    const { maxStreams, ...timing } = this.#limits;
    if (this.#open.size >= maxStreams) {
      throw new ServerProblem(
        "too-many-streams",
        `${maxStreams} streams are open, which is as many as this server takes (--max-streams). ` +
          "Come back in a moment, or close some.",
      );
    }
    const outlet = new ResponseStream({ ...timing, heartbeat: formatComment("still here"), drop });
    const finished = this.#writeStream(outlet, tell).finally(() => this.#open.delete(outlet));
    this.#open.set(outlet, { told: finished, atClose });
    return new Response(outlet.body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        // Proxies of nginx's kind hold back what they could send together.
        "x-accel-buffering": "no",
        ...headers,
      },
    });
  }

  /** Ends all, with a comment, and without the word that there is nothing more. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(
      [...this.#open].map(async ([outlet, { told: finished, atClose }]) => {
        await this.#writeCloseNotice(outlet);
        if (atClose === "end") outlet.end();
        else outlet.disconnect();
        await finished;
      }),
    );
  }

  async #writeCloseNotice(outlet: ResponseStream): Promise<void> {
    try {
      if (!outlet.isLagging) await outlet.write(formatComment("the server is closing; come back"));
      await outlet.waitUntilFlushed(CLOSE_NOTICE_MS);
    } catch (error) {
      if (!(error instanceof ReaderGoneError)) throw error;
    }
  }

  async #writeStream(outlet: ResponseStream, tell: StreamRequest["write"]): Promise<void> {
    try {
      await outlet.write(formatRetry(RETRY_MS));
      await tell(outlet);
      outlet.end();
    } catch (error) {
      if (!(error instanceof ReaderGoneError)) this.#reportError(error);
      outlet.disconnect();
    }
  }
}

function createClosingProblem(): ServerProblem {
  return new ServerProblem("closing", "The server is closing. Come back when it is up again.");
}
