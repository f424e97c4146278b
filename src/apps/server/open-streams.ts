import { ServerProblem } from "./problem.ts";
import { ReaderGoneError, ResponseStream, type ResponseStreamOptions } from "./response-stream.ts";
import { formatComment, formatRetry, RETRY_MS } from "./sse-frame.ts";

export type StreamRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes to one reader until it returns. */
  readonly write: (outlet: ResponseStream) => Promise<void>;
  /**
   * How a stream ends when the server closes: `end` if its reader reconnects after a regular end, `cut` if its reader would
   * take that for the end of the content.
   */
  readonly atClose: "end" | "cut";
  /** Closes the connection. */
  readonly drop: () => void;
};

export type StreamLimits = Pick<ResponseStreamOptions, "stallMs" | "heartbeatMs"> & {
  /** The maximum number of open streams. */
  readonly maxStreams: number;
};

/** Below the 30 s after which common proxies close an idle connection. */
const HEARTBEAT_MS = 15_000;
/** Longer than a short interruption of a mobile network. */
const STALL_MS = 20_000;
/** How long a stream may take for its last text when the server closes. */
const CLOSE_NOTICE_MS = 1_000;

export const DEFAULT_LIMITS: StreamLimits = {
  maxStreams: 256,
  heartbeatMs: HEARTBEAT_MS,
  stallMs: STALL_MS,
};

/** All open streams: limits their number, and ends them with the server. */
export class OpenStreams {
  readonly #limits: StreamLimits;
  /** Receives the error of a stream that broke, for the operator of the server. */
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

  /** @throws {ServerProblem} If there are too many. */
  open({ headers = {}, write: tell, atClose, drop }: StreamRequest): Response {
    if (this.#closing) throw createClosingProblem();
    const { maxStreams, ...timing } = this.#limits;
    if (this.#open.size >= maxStreams) {
      throw new ServerProblem(
        "too-many-streams",
        `${maxStreams} streams are open, which is the maximum of this server (--max-streams). ` +
          "Retry later, or close some.",
      );
    }
    const outlet = new ResponseStream({ ...timing, heartbeat: formatComment("still here"), drop });
    const finished = this.#writeStream(outlet, tell).finally(() => this.#open.delete(outlet));
    this.#open.set(outlet, { told: finished, atClose });
    return new Response(outlet.body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        // Proxies such as nginx buffer a response by default.
        "x-accel-buffering": "no",
        ...headers,
      },
    });
  }

  /** Ends all streams with a comment, and without the event that marks the end of a run. */
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
      if (!outlet.isLagging) await outlet.write(formatComment("the server is closing; reconnect"));
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
  return new ServerProblem("server-closing", "The server is closing. Retry when it runs again.");
}
