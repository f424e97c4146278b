import type { Agent, Dispatcher } from "undici";
import { decompress } from "../../../platform/decompress.ts";
import { loadUndici } from "../../../platform/lazy-packages.ts";
import { lookupPublic } from "../../../platform/network/public-address.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { ToolError } from "../../tool-execution.ts";
import type { ApiRequest } from "./prepare-request.ts";
import { readBounded } from "./read-body.ts";

export type ApiResponse = {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
  /** The target of a redirect that was not followed. */
  readonly redirectsTo?: string;
};

export type SendOptions = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Returns the limit for the type of the answer. */
  readonly maxBytes: (contentType: string) => number;
  readonly publicOnly: boolean;
};

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;

/** Sends requests of all APIs of a worker, each once. */
export class Sender {
  /** For all hosts, and for public ones only. */
  #agents: { readonly all: Agent; readonly public: Agent } | undefined;

  /** Sends a request. Follows redirects within the origin for requests that only read. Rejects with a `ToolError`. */
  async send(request: ApiRequest, options: SendOptions): Promise<ApiResponse> {
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const signal = AbortSignal.any([options.signal, timeout]);
    try {
      return await this.#followRedirects(request, { ...options, signal });
    } catch (error) {
      if (options.signal.aborted) throw new ToolError("cancelled", "", { cause: error });
      const reason = timeout.aborted ? `no answer within ${options.timeoutMs} ms` : describeError(error);
      const message = `${request.method} ${request.maskedUrl}: ${reason}${describeEffect(request, error)}`;
      throw new ToolError("failed", message, { cause: error });
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#agents?.all.destroy(), this.#agents?.public.destroy()]);
  }

  #getAgents() {
    const { Agent } = loadUndici();
    this.#agents ??= {
      all: new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } }),
      public: new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS, lookup: lookupPublic } }),
    };
    return this.#agents;
  }

  async #followRedirects(request: ApiRequest, options: SendOptions): Promise<ApiResponse> {
    const { method, headers, body } = request;
    let url = request.url;
    for (let hops = 0; ; hops += 1) {
      const response = await loadUndici().request(url, {
        method: method as Dispatcher.HttpMethod,
        headers,
        ...omitUndefined({ body }),
        signal: options.signal,
        dispatcher: this.#getAgents()[options.publicOnly ? "public" : "all"],
        headersTimeout: options.timeoutMs,
        bodyTimeout: options.timeoutMs,
      });
      const next = getRedirect(response, url);
      if (
        next !== undefined &&
        isReadMethod(method) &&
        hops < MAX_REDIRECTS &&
        next.origin === new URL(url).origin
      ) {
        response.body.on("error", () => {}).destroy();
        url = next.href;
        continue;
      }
      const answer = await readResponse(method, response, options.maxBytes);
      return next === undefined ? answer : { ...answer, redirectsTo: next.href };
    }
  }
}

function isReadMethod(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

function getRedirect({ statusCode, headers }: Dispatcher.ResponseData, from: string): URL | undefined {
  const location = headers["location"];
  if (!REDIRECT_STATUSES.includes(statusCode) || typeof location !== "string") return undefined;
  return URL.canParse(location, from) ? new URL(location, from) : undefined;
}

/** Answers with these statuses have no body, whatever their headers declare. */
const BODILESS_STATUSES = [204, 205, 304];

async function readResponse(
  method: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: SendOptions["maxBytes"],
): Promise<ApiResponse> {
  const contentType = String(headers["content-type"] ?? "");
  const isEmpty = method === "HEAD" || BODILESS_STATUSES.includes(statusCode);
  const stream = isEmpty ? body : decompress(body, headers["content-encoding"]);
  if (stream === undefined)
    throw new Error(`its content-encoding is ${String(headers["content-encoding"])}, which is not supported`);
  const { bytes, isCut } = await readBounded(stream, maxBytes(contentType));
  return { status: statusCode, contentType, bytes, isCut };
}

const ERROR_SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "the name of the host is unknown",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
};
/** These errors mean that no server has received the request. */
const NOT_SENT_ERRORS =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_NOT_PUBLIC|UND_ERR_INVALID_ARG|ERR_TLS.*|CERT_.*|.*CERT.*)$/;

function describeError(error: unknown): string {
  const { code, message } = findRootError(error);
  const sentence = ERROR_SENTENCES[code] ?? message;
  return code === "" ? sentence : `${sentence} (${code})`;
}

function describeEffect({ method }: ApiRequest, error: unknown): string {
  if (isReadMethod(method) || method === "OPTIONS" || NOT_SENT_ERRORS.test(findRootError(error).code))
    return "";
  return ". The request may have been executed: check the state before you repeat it";
}

/** A host with several addresses fails with one error for each; the first represents all. */
function findRootError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return findRootError(error.errors[0]);
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { code, message: error.message === "" ? error.name : error.message };
}
