import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { decompress } from "../platform/decompress.ts";
import { loadUndici } from "../platform/lazy-packages.ts";
import { asObject, parseJson } from "../platform/text/json.ts";
import { extractPageText } from "./extract-page-text.ts";
import { ProviderError } from "./provider-error.ts";
import {
  createHttpError,
  createStreamError,
  findRequestId,
  isHtmlPage,
  quoteVendor,
  type Vendor,
} from "./provider-error-from-response.ts";
import { getHeader, type ResponseHeaders } from "./retry-after.ts";
import type { StreamFormat } from "./stream-format.ts";
import { createTransportError, type HttpLimits } from "./transport-error.ts";

export type HttpClientOptions = Partial<HttpLimits> & {
  /** Replaces the built-in connection pools, for a proxy. It has its own connect timeout. */
  readonly dispatcher?: Dispatcher | undefined;
};

export const HTTP_LIMITS: HttpLimits = {
  // A healthy connection with TLS takes well under a second; ten cover a lost packet or two.
  connectTimeoutMs: 10_000,
  // A local server processes the whole prompt before it answers, which takes minutes on a CPU.
  firstByteTimeoutMs: 300_000,
  // Some vendors send nothing while a model thinks, and hard thinking takes minutes.
  bodyTimeoutMs: 300_000,
  // Pings show that the server is alive: a thinking model gets more time than a silent connection.
  stallTimeoutMs: 600_000,
};

/** Idle time of a connection: long enough for a tool between two turns, shorter than front ends allow. */
const KEEP_ALIVE_MS = 30_000;

/** The limit for an error's body; a vendor's message is shorter. */
const MAX_ERROR_BYTES = 64 * 1024;

/** The limit for reading an error's whole body. A slow body is cut, because the status is known. */
const ERROR_BODY_TIMEOUT_MS = 30_000;

/** How long a complete stream may take to end by itself, which keeps its connection reusable. */
const DRAIN_TIMEOUT_MS = 100;

export type HttpRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly streamFormat: StreamFormat;
  readonly vendor: Vendor;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Receives the headers of every answer, successful or not. */
  readonly onHead?: ((headers: ResponseHeaders) => void) | undefined;
};

export type HttpStream = {
  readonly requestId: string | undefined;
  /** In lower case; empty if the vendor sent none. */
  readonly contentType: string;
  /** Throws a `ProviderError` when the stream breaks. Leaving the loop closes the connection. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Call this when nothing more is expected: waits briefly for the end of the stream, then closes it. */
  drain(): void;
};

/** Sends a request once and returns the stream of its answer. Follows no redirects and retries nothing. */
export class HttpClient {
  readonly #limits: HttpLimits;
  /** The built-in connection pools open with the first request. */
  #dispatcher: Dispatcher | undefined;

  constructor(options: HttpClientOptions = {}) {
    this.#limits = {
      connectTimeoutMs: options.connectTimeoutMs ?? HTTP_LIMITS.connectTimeoutMs,
      firstByteTimeoutMs: options.firstByteTimeoutMs ?? HTTP_LIMITS.firstByteTimeoutMs,
      bodyTimeoutMs: options.bodyTimeoutMs ?? HTTP_LIMITS.bodyTimeoutMs,
      stallTimeoutMs: options.stallTimeoutMs ?? HTTP_LIMITS.stallTimeoutMs,
    };
    this.#dispatcher = options.dispatcher;
  }

  get limits(): HttpLimits {
    return this.#limits;
  }

  /** Resolves when the answer has begun and is a stream. Rejects with a `ProviderError` otherwise. */
  async open(call: HttpRequest): Promise<HttpStream> {
    const response = await this.#send(call);
    const headers: ResponseHeaders = response.headers;
    call.onHead?.(headers);
    const body = decompress(response.body, getHeader(headers, "content-encoding"));
    if (body === undefined)
      throw new ProviderError("api", `${call.vendor.name} answered in an unknown content-encoding`);
    const contentType = (getHeader(headers, "content-type") ?? "").toLowerCase();
    if (response.statusCode >= 300 || !call.streamFormat.accepts(contentType)) {
      throw await this.#createResponseError(call, response.statusCode, headers, body);
    }
    return {
      requestId: findRequestId(call.vendor, headers),
      contentType,
      bytes: this.#readBytes(call, body),
      drain: () => {
        setTimeout(() => body.destroy(), DRAIN_TIMEOUT_MS).unref();
      },
    };
  }

  /** Closes idle connections, and waits for active ones. */
  async close(): Promise<void> {
    await this.#dispatcher?.close();
  }

  async #send(call: HttpRequest): Promise<Dispatcher.ResponseData> {
    const { Agent, request } = loadUndici();
    this.#dispatcher ??= new Agent({
      connect: { timeout: this.#limits.connectTimeoutMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
    try {
      return await request(call.url, {
        method: "POST",
        headers: call.headers,
        body: call.body,
        signal: call.signal,
        dispatcher: this.#dispatcher,
        headersTimeout: this.#limits.firstByteTimeoutMs,
        bodyTimeout: this.#limits.bodyTimeoutMs,
      });
    } catch (error) {
      throw createTransportError(call, this.#limits, error);
    }
  }

  async *#readBytes(call: HttpRequest, body: Readable): AsyncGenerator<Uint8Array> {
    try {
      for await (const bytes of body) yield bytes as Uint8Array;
    } catch (error) {
      throw createTransportError(call, this.#limits, error);
    }
  }

  /** Creates the error for an answer that is not a stream: an error status, a redirect, or a proxy's page. */
  async #createResponseError(
    call: HttpRequest,
    status: number,
    headers: ResponseHeaders,
    source: Readable,
  ): Promise<ProviderError> {
    const { vendor } = call;
    const { text, isIncomplete } = await this.#readText(source);
    if (call.signal.aborted) return createTransportError(call, this.#limits, call.signal.reason);
    if (status >= 300 && status < 400) {
      const target = quoteVendor(vendor, getHeader(headers, "location") ?? "nowhere");
      const description = `${vendor.name} answered ${status}, a redirect to ${target}. Redirects are not followed, because the key would be sent along: set the base URL`;
      return new ProviderError("api", description, { status });
    }
    if (status >= 400) {
      return createHttpError(vendor, {
        status,
        headers,
        body: text,
        isBodyIncomplete: isIncomplete,
        now: call.now(),
      });
    }
    const json = parseJson(text);
    // Google sends its error as the only item of a list.
    const first = Array.isArray(json) ? json[0] : json;
    if (asObject(first)?.["error"] !== undefined) return createStreamError(vendor, json);
    const contentType = getHeader(headers, "content-type") ?? "";
    const page = isHtmlPage(contentType, text);
    const what = page ? "an HTML page" : `"${quoteVendor(vendor, contentType)}"`;
    const reason = `${vendor.name} answered ${status} with ${what} instead of a stream (a proxy in between, or a wrong base URL?)`;
    return new ProviderError(
      "api",
      `${reason}: ${quoteVendor(vendor, page ? extractPageText(text) : text)}`,
      { status },
    );
  }

  /** Reads the beginning of a body. A failure while reading is ignored: the status suffices. */
  async #readText(body: Readable): Promise<{ readonly text: string; readonly isIncomplete: boolean }> {
    const parts: Uint8Array[] = [];
    let length = 0;
    let isIncomplete = false;
    const timedOut = setTimeout(() => body.destroy(new Error("It took too long")), ERROR_BODY_TIMEOUT_MS);
    try {
      for await (const bytes of body) {
        parts.push(bytes as Uint8Array);
        length += (bytes as Uint8Array).length;
        if (length >= MAX_ERROR_BYTES) break;
      }
    } catch {
      isIncomplete = true;
    } finally {
      clearTimeout(timedOut);
    }
    return { text: Buffer.concat(parts).subarray(0, MAX_ERROR_BYTES).toString("utf8"), isIncomplete };
  }
}
