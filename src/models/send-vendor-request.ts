import { reachKillPoint } from "../platform/kill-point.ts";
import type { AssistantMessage } from "../schema/message.ts";
import { AnswerProgress } from "./answer-progress.ts";
import { createTooLargeError } from "./answer-size-limit.ts";
import type { AnswerContext, Assembler } from "./assembler.ts";
import { shortenCallId, shortenDeltaCallId } from "./call-id.ts";
import type { HttpClient, HttpStream } from "./http-client.ts";
import { stringifyRequest } from "./json.ts";
import type { ModelRequest, StreamOptions } from "./provider.ts";
import { ProviderError } from "./provider-error.ts";
import type { Vendor } from "./provider-error-from-response.ts";
import { readRateLimits } from "./rate-limits/read-rate-limits.ts";
import type { ResponseHeaders } from "./retry-after.ts";
import { createMask } from "./secret-masks.ts";
import { MAX_EVENT_CHARS, SERVER_SENT_EVENTS } from "./sse-reader.ts";
import type { ServerEvent, StreamFormat, StreamReader } from "./stream-format.ts";
import { createStalledError, type HttpLimits } from "./transport-error.ts";

/** The dependencies of an adapter, besides its own translation. */
export type AdapterOptions = {
  readonly http: HttpClient;
  /** Retry after a server error, as after a network error (GAP-14). Off by default: a vendor may bill broken answers. */
  readonly retryServerErrors?: boolean;
  /** How often an answer that its vendor has paused is continued; a few times by default. */
  readonly maxContinuations?: number;
};

export type VendorRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON object. */
  readonly body: object;
  /** The format of the answer's stream; Server-Sent Events by default. */
  readonly streamFormat?: StreamFormat;
  /** Returns headers that depend on the whole request, such as its signature. */
  readonly signHeaders?: (call: OutgoingRequest) => Promise<Readonly<Record<string, string>>>;
  /** Values to mask, besides the key and the headers of the model. */
  readonly secrets?: readonly (string | undefined)[];
  /** The vendor's own messages for an input that does not fit. */
  readonly overflowPattern?: RegExp;
  readonly createAssembler: (context: AnswerContext) => Assembler;
};

/** The request as it is sent. */
export type OutgoingRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Sends one request and assembles its answer. Rejects with a `ProviderError` and with nothing else. */
export async function sendVendorRequest(
  adapter: AdapterOptions,
  request: ModelRequest,
  options: StreamOptions,
  buildRequest: () => VendorRequest | Promise<VendorRequest>,
): Promise<AssistantMessage> {
  const now = options.now ?? Date.now;
  let vendor = createVendor(request, adapter.retryServerErrors ?? false);
  try {
    if (options.signal.aborted)
      throw new ProviderError("cancelled", `the request to ${vendor.name} was cancelled`);
    const vendorRequest = await buildRequest();
    const { url, createAssembler, streamFormat = SERVER_SENT_EVENTS } = vendorRequest;
    vendor = createVendor(request, vendor.retryServerErrors, vendorRequest);
    const headers = buildHeaders(request, { accept: streamFormat.accept, ...vendorRequest.headers });
    const outgoing = { url, headers, body: await stringifyRequest(vendorRequest.body) };
    const signed = { ...outgoing, headers: { ...headers, ...(await vendorRequest.signHeaders?.(outgoing)) } };
    reachKillPoint("request:before");
    const onHead = (head: ResponseHeaders) => {
      const limits = readRateLimits(head, now());
      if (limits.length > 0) options.onRateLimits?.(limits);
    };
    const stream = await adapter.http.open({
      ...signed,
      streamFormat,
      vendor,
      now,
      signal: options.signal,
      onHead,
    });
    reachKillPoint("stream:begun");
    const { id: model, provider } = request.model;
    const context = { model, provider, timestamp: now(), vendor, requestId: stream.requestId };
    const reader = streamFormat.createReader(stream.contentType, vendor);
    return await readAnswer(stream, reader, createAssembler(context), options, {
      vendor,
      limits: adapter.http.limits,
    });
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const message = vendor.mask(error instanceof Error ? error.message : String(error));
    throw new ProviderError("other", `${vendor.name}: ${message}`, { cause: error });
  }
}

async function readAnswer(
  stream: HttpStream,
  reader: StreamReader,
  assembler: Assembler,
  options: StreamOptions,
  { vendor, limits }: { readonly vendor: Vendor; readonly limits: HttpLimits },
): Promise<AssistantMessage> {
  const progress = new AnswerProgress(limits.stallTimeoutMs, performance.now());
  const hasEnded = () => assembler.state === "ended";
  const take = (events: readonly ServerEvent[]) => {
    for (const event of events) {
      const deltas = assembler.push(event);
      progress.record(event, deltas, performance.now());
      for (const delta of deltas) options.onDelta?.(shortenDeltaCallId(delta));
    }
  };
  try {
    for await (const bytes of stream.bytes) {
      reachKillPoint("stream:bytes");
      if (hasEnded()) continue;
      take(reader.read(bytes));
      if (reader.isOverrun)
        throw createTooLargeError(vendor, "one event of its answer had more characters", MAX_EVENT_CHARS);
      if (hasEnded()) stream.drain();
      else if (progress.hasStalled(performance.now())) throw createStalledError(vendor, limits);
    }
    if (!hasEnded()) take(reader.end?.() ?? []);
  } catch (error) {
    // A failure of the connection after a complete answer is ignored.
    const isAfterCompletion =
      error instanceof ProviderError && error.fault === "network" && assembler.state === "complete";
    if (!hasEnded() && !isAfterCompletion) throw error;
  }
  reachKillPoint("stream:whole");
  const message = assembler.finish();
  return { ...message, content: message.content.map(shortenCallId) };
}

function createVendor(
  request: ModelRequest,
  retryServerErrors: boolean,
  { secrets = [], overflowPattern }: Pick<VendorRequest, "secrets" | "overflowPattern"> = {},
): Vendor {
  const { model, apiKey, headers = {} } = request;
  const resolved = Object.entries(headers).filter(([name, value]) => model.headers[name] !== value);
  const mask = createMask([apiKey, ...resolved.map(([, value]) => value), ...secrets]);
  return { name: model.provider, mask, retryServerErrors, overflowPattern };
}

/** A configured value is added to these headers, and replaces all others. */
const LIST_HEADERS: ReadonlySet<string> = new Set(["anthropic-beta"]);

/** Lower-case names, so that a configured header replaces the built-in one in any spelling. */
function buildHeaders(request: ModelRequest, own: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "accept-encoding": "identity",
    "user-agent": "holdfast",
    ...own,
  };
  for (const [name, value] of Object.entries(request.headers ?? request.model.headers)) {
    const key = name.toLowerCase();
    const appended = LIST_HEADERS.has(key) ? headers[key] : undefined;
    headers[key] = appended === undefined || value.includes(appended) ? value : `${appended},${value}`;
  }
  return headers;
}

/** Returns the key without the line break of its file. */
export function requireKey(request: ModelRequest): string | undefined {
  const key = request.apiKey?.trim();
  if (key !== undefined && key !== "") return key;
  const { apiKey, provider } = request.model;
  if (apiKey === undefined) return undefined;
  throw new ProviderError("auth", `${provider} needs a key, and ${apiKey} is not set`);
}
