import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, type Dispatcher, request as send } from "undici";
import type { AnswerForm } from "./answer-form.ts";
import { httpError, looksLikePage, quote, requestIdIn, streamError, type Vendor } from "./classify.ts";
import { objectOf, parseJson } from "./json.ts";
import { type HttpLimits, transportError } from "./network-fault.ts";
import { textOfPage } from "./page.ts";
import { ProviderError } from "./provider-error.ts";
import { headerOf, type ResponseHeaders } from "./retry-after.ts";

export type HttpOptions = Partial<HttpLimits> & {
  /** Instead of our own pools, for a proxy. It brings its own limit for connecting. */
  readonly dispatcher?: Dispatcher | undefined;
};

export const HTTP_LIMITS: HttpLimits = {
  // A healthy connection with TLS takes well under a second; ten cover a lost packet or two.
  connectTimeoutMs: 10_000,
  // A local server reads the whole prompt before it answers at all, which takes minutes on a CPU.
  firstByteTimeoutMs: 300_000,
  // Some vendors send nothing while a model thinks, and hard thinking takes minutes.
  silenceTimeoutMs: 300_000,
  // Pings show that somebody is there: a model that thinks without a word is given longer than a silent line.
  idleTimeoutMs: 600_000,
};

/** Idle time of a connection: long enough to outlive a tool between two turns, short of what front ends allow. */
const KEEP_ALIVE_MS = 30_000;

/** Of an error's body; what a vendor has to say fits in less. */
const MAX_ERROR_BYTES = 64 * 1024;

/** All of an error's body: who drips it is not waited for, the status is known. */
const ERROR_BODY_MS = 30_000;

/** How long a stream that has said all may take to end by itself, which keeps its connection usable. */
const DRAIN_MS = 100;

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

export type HttpCall = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly form: AnswerForm;
  readonly vendor: Vendor;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Told of the head of every answer, good or bad. */
  readonly onHead?: ((headers: ResponseHeaders) => void) | undefined;
};

export type HttpStream = {
  readonly requestId: string | undefined;
  /** In lower case; empty where the vendor named none. */
  readonly contentType: string;
  /** Throws a `ProviderError` when the stream breaks. Leaving the loop closes the connection. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Nothing more is expected: lets the stream end by itself for a moment, then closes it. */
  drain(): void;
};

/** Sends a question once and gives the stream of its answer. Follows no redirect and repeats nothing. */
export class Http {
  readonly #limits: HttpLimits;
  readonly #dispatcher: Dispatcher;

  constructor(options: HttpOptions = {}) {
    this.#limits = {
      connectTimeoutMs: options.connectTimeoutMs ?? HTTP_LIMITS.connectTimeoutMs,
      firstByteTimeoutMs: options.firstByteTimeoutMs ?? HTTP_LIMITS.firstByteTimeoutMs,
      silenceTimeoutMs: options.silenceTimeoutMs ?? HTTP_LIMITS.silenceTimeoutMs,
      idleTimeoutMs: options.idleTimeoutMs ?? HTTP_LIMITS.idleTimeoutMs,
    };
    this.#dispatcher =
      options.dispatcher ??
      new Agent({ connect: { timeout: this.#limits.connectTimeoutMs }, keepAliveTimeout: KEEP_ALIVE_MS });
  }

  get limits(): HttpLimits {
    return this.#limits;
  }

  /** Resolves when the answer has begun and is a stream; rejects with a `ProviderError` otherwise. */
  async open(call: HttpCall): Promise<HttpStream> {
    const response = await this.#send(call);
    const headers: ResponseHeaders = response.headers;
    call.onHead?.(headers);
    const body = decoded(response.body, headerOf(headers, "content-encoding"));
    if (body === undefined) {
      response.body.on("error", () => {}).destroy();
      throw new ProviderError("api", `${call.vendor.name} answered in an unknown content-encoding`);
    }
    const contentType = (headerOf(headers, "content-type") ?? "").toLowerCase();
    if (response.statusCode >= 300 || !call.form.takes(contentType)) {
      throw await this.#refused(call, response.statusCode, headers, body);
    }
    return {
      requestId: requestIdIn(call.vendor, headers),
      contentType,
      bytes: this.#bytes(call, body),
      drain: () => {
        setTimeout(() => body.destroy(), DRAIN_MS).unref();
      },
    };
  }

  /** Ends idle connections; waits for those in use. */
  async close(): Promise<void> {
    await this.#dispatcher.close();
  }

  async #send(call: HttpCall): Promise<Dispatcher.ResponseData> {
    try {
      return await send(call.url, {
        method: "POST",
        headers: call.headers,
        body: call.body,
        signal: call.signal,
        dispatcher: this.#dispatcher,
        headersTimeout: this.#limits.firstByteTimeoutMs,
        bodyTimeout: this.#limits.silenceTimeoutMs,
      });
    } catch (error) {
      throw transportError(call, this.#limits, error);
    }
  }

  async *#bytes(call: HttpCall, body: Readable): AsyncGenerator<Uint8Array> {
    try {
      for await (const bytes of body) yield bytes as Uint8Array;
    } catch (error) {
      throw transportError(call, this.#limits, error);
    }
  }

  /** An answer that is no stream: an error with its status, a redirect, or a page of something in between. */
  async #refused(
    call: HttpCall,
    status: number,
    headers: ResponseHeaders,
    source: Readable,
  ): Promise<ProviderError> {
    const { vendor } = call;
    const { text, lost } = await this.#text(source);
    if (call.signal.aborted) return transportError(call, this.#limits, call.signal.reason);
    if (status >= 300 && status < 400) {
      const target = quote(vendor, headerOf(headers, "location") ?? "nowhere");
      const said = `${vendor.name} answered ${status}, a redirect to ${target}. Redirects are not followed, since the key would go along: set the base URL`;
      return new ProviderError("api", said, { status });
    }
    if (status >= 400) {
      return httpError(vendor, { status, headers, body: text, bodyLost: lost, now: call.now() });
    }
    const json = parseJson(text);
    // Google sends its error as the only one of a list.
    const first = Array.isArray(json) ? json[0] : json;
    if (objectOf(first)?.["error"] !== undefined) return streamError(vendor, json);
    const contentType = headerOf(headers, "content-type") ?? "";
    const page = looksLikePage(contentType, text);
    const what = page ? "an HTML page" : `"${quote(vendor, contentType)}"`;
    const why = `${vendor.name} answered ${status} with ${what} instead of a stream (a proxy in between, or a wrong base URL?)`;
    return new ProviderError("api", `${why}: ${quote(vendor, page ? textOfPage(text) : text)}`, { status });
  }

  /** The beginning of a body. What breaks on the way is not an error: the status says enough. */
  async #text(body: Readable): Promise<{ readonly text: string; readonly lost: boolean }> {
    const parts: Uint8Array[] = [];
    let length = 0;
    let lost = false;
    const late = setTimeout(() => body.destroy(new Error("It took too long")), ERROR_BODY_MS);
    try {
      for await (const bytes of body) {
        parts.push(bytes as Uint8Array);
        length += (bytes as Uint8Array).length;
        if (length >= MAX_ERROR_BYTES) break;
      }
    } catch {
      lost = true;
    } finally {
      clearTimeout(late);
    }
    return { text: Buffer.concat(parts).subarray(0, MAX_ERROR_BYTES).toString("utf8"), lost };
  }
}

/** We ask for no encoding, but proxies compress unasked. */
function decoded(body: Readable, encoding: string | undefined): Readable | undefined {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity") return body;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : undefined;
  // The error reaches the reader through the decoder; the callback only keeps it from being unhandled.
  return create === undefined ? undefined : pipeline(body, create(), () => {});
}
