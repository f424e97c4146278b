import { comment, RETRY_MS, retryAfter } from "./frames.ts";
import { Outlet, type OutletOptions, ReaderGone } from "./outlet.ts";
import { ServerProblem } from "./problem.ts";

export type Telling = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes to one reader until it returns. */
  readonly tell: (outlet: Outlet) => Promise<void>;
  /**
   * How a stream ends with the server: `end` where a reader takes an end for a reason to come back, `cut` where it would
   * take it for the end of what it reads.
   */
  readonly atClose: "end" | "cut";
  /** Takes the connection away. */
  readonly drop: () => void;
};

export type StreamLimits = Pick<OutletOptions, "stallMs" | "heartbeatMs"> & {
  /** Open at the same time. */
  readonly maxStreams: number;
};

/** Below the 30 s after which common proxies take a silent connection for dead. */
const HEARTBEAT_MS = 15_000;
/** Longer than a hiccup of a mobile network. */
const STALL_MS = 20_000;
/** For the last words when the server closes. */
const LAST_WORDS_MS = 1_000;

export const DEFAULT_LIMITS: StreamLimits = {
  maxStreams: 256,
  heartbeatMs: HEARTBEAT_MS,
  stallMs: STALL_MS,
};

/** All streams that are open, so that there are not too many, and that they end when the server does. */
export class Streams {
  readonly #limits: StreamLimits;
  /** What became of a stream that broke, for whoever runs the server. */
  readonly #tell: (error: unknown) => void;
  readonly #open = new Map<Outlet, { readonly told: Promise<void>; readonly atClose: Telling["atClose"] }>();
  #closing = false;

  constructor(limits: StreamLimits, tell: (error: unknown) => void) {
    this.#limits = limits;
    this.#tell = tell;
  }

  get size(): number {
    return this.#open.size;
  }

  /** @throws {ServerProblem} when there are too many. */
  open({ headers = {}, tell, atClose, drop }: Telling): Response {
    if (this.#closing) throw closing();
    const { maxStreams, ...timing } = this.#limits;
    if (this.#open.size >= maxStreams) {
      throw new ServerProblem(
        "too-many-streams",
        `${maxStreams} streams are open, which is as many as this server takes (--max-streams). ` +
          "Come back in a moment, or close some.",
      );
    }
    const outlet = new Outlet({ ...timing, heartbeat: comment("still here"), drop });
    const told = this.#run(outlet, tell).finally(() => this.#open.delete(outlet));
    this.#open.set(outlet, { told, atClose });
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
      [...this.#open].map(async ([outlet, { told, atClose }]) => {
        await this.#lastWords(outlet);
        if (atClose === "end") outlet.end();
        else outlet.cut();
        await told;
      }),
    );
  }

  async #lastWords(outlet: Outlet): Promise<void> {
    try {
      if (!outlet.isBehind) await outlet.write(comment("the server is closing; come back"));
      await outlet.flushed(LAST_WORDS_MS);
    } catch (error) {
      if (!(error instanceof ReaderGone)) throw error;
    }
  }

  async #run(outlet: Outlet, tell: Telling["tell"]): Promise<void> {
    try {
      await outlet.write(retryAfter(RETRY_MS));
      await tell(outlet);
      outlet.end();
    } catch (error) {
      if (!(error instanceof ReaderGone)) this.#tell(error);
      outlet.cut();
    }
  }
}

function closing(): ServerProblem {
  return new ServerProblem("closing", "The server is closing. Come back when it is up again.");
}
