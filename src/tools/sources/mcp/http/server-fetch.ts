import { Agent, fetch as send } from "undici";
import { asNumber, asObject } from "../../../../platform/text/json.ts";
import { findErrorReason, McpError } from "../mcp-error.ts";
import { MAX_MESSAGES_PER_SECOND, MessageRateLimit } from "../message-rate-limit.ts";
import { MAX_MESSAGE_BYTES } from "../stdio/server-process.ts";
import { ResponseMeter } from "./response-meter.ts";
import type { TokenSource } from "./token-source.ts";

/** A healthy connection with TLS takes well under a second; ten cover a lost packet or two. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Longer than any request may take. */
const HEADERS_TIMEOUT_MS = 25 * 60 * 60 * 1000;

/** Answers with these statuses have no body by definition. */
const BODILESS_STATUSES = new Set([101, 204, 205, 304]);

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type FetchEvents = {
  /** The answer stream of these requests has ended, whole or not. */
  readonly onStreamEnd: (requests: readonly number[], resumable: boolean) => void;
  /** The answer exceeds a limit. */
  readonly onLimitExceeded: (what: string) => void;
};

export type ServerFetch = { readonly fetch: Fetch; readonly close: () => Promise<void> };

/** Creates the fetch function for one server: it adds the token, enforces limits, and follows no redirects. */
export function createServerFetch(
  server: URL,
  token: TokenSource | undefined,
  events: FetchEvents,
): ServerFetch {
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: HEADERS_TIMEOUT_MS,
    // The stream of a server's own messages is silent as long as the server has nothing to send.
    bodyTimeout: 0,
  });

  const once = async (url: URL, init: RequestInit, authorization: string | undefined): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (authorization !== undefined && url.origin === server.origin)
      headers.set("authorization", authorization);
    const plain = { ...init, redirect: "manual", headers: [...headers.entries()], dispatcher };
    const response = (await send(url, plain as never)) as unknown as Response;
    return limitResponse(response, getRequestIds(init.body), events);
  };

  const fetch: Fetch = async (address, init = {}) => {
    const url = new URL(address);
    try {
      const currentAuthorization = await token?.getAuthorization(init.signal ?? undefined);
      const response = await once(url, init, currentAuthorization);
      if (response.status !== 401 || token === undefined || currentAuthorization === undefined)
        return response;
      await response.body?.cancel();
      return await once(
        url,
        init,
        await token.renewAuthorization(currentAuthorization, init.signal ?? undefined),
      );
    } catch (error) {
      if (error instanceof McpError || init.signal?.aborted === true) throw error;
      throw new McpError("transport", `cannot be reached at ${url.origin}: ${findErrorReason(error)}`, {
        cause: error,
      });
    }
  };
  return { fetch, close: () => dispatcher.destroy() };
}

/** Returns the same answer as an instance of the platform's own class, which libraries check for. */
function limitResponse(response: Response, requests: readonly number[], events: FetchEvents): Response {
  const { status, statusText, body } = response;
  const headers = new Headers([...response.headers.entries()]);
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  const limited =
    body === null || BODILESS_STATUSES.has(status)
      ? null
      : meterBody(body, isStream, isStream ? requests : [], events);
  return new Response(limited, { status, statusText, headers });
}

function meterBody(
  body: ReadableStream<Uint8Array>,
  isStream: boolean,
  requests: readonly number[],
  events: FetchEvents,
): ReadableStream<Uint8Array> {
  const meter = new ResponseMeter(isStream);
  const rate = new MessageRateLimit();
  const reader = body.getReader();
  const end = () => {
    if (requests.length > 0) events.onStreamEnd(requests, meter.isResumable);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return end();
        }
        const before = meter.messages;
        meter.push(value);
        const isSlow = rate.take(meter.messages - before);
        if (isSlow && meter.bytes <= MAX_MESSAGE_BYTES) return controller.enqueue(value);
        const reason = isSlow
          ? `a message of more than ${MAX_MESSAGE_BYTES} bytes`
          : `more than ${MAX_MESSAGES_PER_SECOND} messages in a second`;
        events.onLimitExceeded(isSlow ? "a message that is too long" : reason);
        await reader.cancel();
        controller.error(new McpError("protocol", reason));
      } catch (error) {
        controller.error(error);
        end();
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
    },
  });
}

/** Returns the ids of the requests in a body: the messages that expect an answer. */
function getRequestIds(body: unknown): readonly number[] {
  if (typeof body !== "string" || !body.startsWith("{")) return [];
  try {
    const message = asObject(JSON.parse(body));
    const id = asNumber(message?.["id"]);
    return message?.["method"] === undefined || id === undefined ? [] : [id];
  } catch {
    return [];
  }
}
