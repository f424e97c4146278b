import { Agent, type Dispatcher, request as send } from "undici";
import { ToolError } from "../../tool.ts";
import { decoded, readUpTo } from "./body-stream.ts";
import { publicLookup } from "./public-address.ts";
import type { ApiRequest } from "./request.ts";

export type Answer = {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
  /** A redirect that was not followed. */
  readonly leadsTo?: string;
};

export type SendOptions = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** By the type of the answer. */
  readonly maxBytes: (contentType: string) => number;
  readonly publicOnly: boolean;
};

const CONNECT_MS = 10_000;
const MAX_REDIRECTS = 5;

/** Sends requests of all APIs of a worker, each once. */
export class Sender {
  readonly #anywhere = new Agent({ connect: { timeout: CONNECT_MS } });
  readonly #public = new Agent({ connect: { timeout: CONNECT_MS, lookup: publicLookup } });

  /** Redirects are followed within the origin, of requests that only read. Rejects with a `ToolError`. */
  async send(request: ApiRequest, options: SendOptions): Promise<Answer> {
    const late = AbortSignal.timeout(options.timeoutMs);
    const signal = AbortSignal.any([options.signal, late]);
    try {
      return await this.#followed(request, { ...options, signal });
    } catch (error) {
      if (options.signal.aborted) throw new ToolError("cancelled", "", { cause: error });
      const why = late.aborted ? `no answer within ${options.timeoutMs} ms` : sentenceOf(error);
      const said = `${request.method} ${request.shown}: ${why}${aftermath(request, error)}`;
      throw new ToolError("failed", said, { cause: error });
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#anywhere.destroy(), this.#public.destroy()]);
  }

  async #followed(request: ApiRequest, options: SendOptions): Promise<Answer> {
    const { method, headers, body } = request;
    let url = request.url;
    for (let hops = 0; ; hops += 1) {
      const response = await send(url, {
        method: method as Dispatcher.HttpMethod,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: options.signal,
        dispatcher: options.publicOnly ? this.#public : this.#anywhere,
        headersTimeout: options.timeoutMs,
        bodyTimeout: options.timeoutMs,
      });
      const next = redirectOf(response, url);
      if (
        next !== undefined &&
        reads(method) &&
        hops < MAX_REDIRECTS &&
        next.origin === new URL(url).origin
      ) {
        response.body.on("error", () => {}).destroy();
        url = next.href;
        continue;
      }
      const answer = await read(method, response, options.maxBytes);
      return next === undefined ? answer : { ...answer, leadsTo: next.href };
    }
  }
}

function reads(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

const REDIRECTS = [301, 302, 303, 307, 308];

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, from: string): URL | undefined {
  const location = headers["location"];
  if (!REDIRECTS.includes(statusCode) || typeof location !== "string") return undefined;
  return URL.canParse(location, from) ? new URL(location, from) : undefined;
}

/** Answers of these have no body, whatever their headers say of one. */
const BODILESS = [204, 205, 304];

async function read(
  method: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: SendOptions["maxBytes"],
): Promise<Answer> {
  const contentType = String(headers["content-type"] ?? "");
  const isEmpty = method === "HEAD" || BODILESS.includes(statusCode);
  const stream = isEmpty ? body : decoded(body, headers["content-encoding"]);
  if (stream === undefined)
    throw new Error(`its content-encoding is ${String(headers["content-encoding"])}, which is not read here`);
  const { bytes, isCut } = await readUpTo(stream, maxBytes(contentType));
  return { status: statusCode, contentType, bytes, isCut };
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "the name of the host is unknown",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_MS} ms`,
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
};
/** Then nobody has seen the request. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_NOT_PUBLIC|UND_ERR_INVALID_ARG|ERR_TLS.*|CERT_.*|.*CERT.*)$/;

function sentenceOf(error: unknown): string {
  const { code, message } = rootOf(error);
  const said = SENTENCES[code] ?? message;
  return code === "" ? said : `${said} (${code})`;
}

function aftermath({ method }: ApiRequest, error: unknown): string {
  if (reads(method) || method === "OPTIONS" || BEFORE_SENDING.test(rootOf(error).code)) return "";
  return ". It may have been carried out: look before you repeat it";
}

/** A host with several addresses fails with one error for each; the first stands for all. */
function rootOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { code, message: error.message === "" ? error.name : error.message };
}
