import { at } from "../platform/kill-point.ts";
import type { AssistantMessage } from "../schema/message.ts";
import type { AnswerForm, AnswerReader, ServerEvent } from "./answer-form.ts";
import { tooLarge } from "./answer-room.ts";
import type { AnswerContext, Assembler } from "./assembler.ts";
import { shortlyNamed, shortlyNamedDelta } from "./call-id.ts";
import type { Vendor } from "./classify.ts";
import type { Http, HttpStream } from "./http.ts";
import { toWireJson } from "./json.ts";
import { maskFor } from "./mask.ts";
import { type HttpLimits, idleError } from "./network-fault.ts";
import { Progress } from "./progress.ts";
import type { ModelRequest, StreamOptions } from "./provider.ts";
import { ProviderError } from "./provider-error.ts";
import { readRateLimits } from "./rate-limits/read-headers.ts";
import type { ResponseHeaders } from "./retry-after.ts";
import { MAX_EVENT_CHARS, SERVER_SENT_EVENTS } from "./sse.ts";

/** What an adapter is made of, beside its own translation. */
export type AdapterOptions = {
  readonly http: Http;
  /** Ask again after a server error, as after a network error (GAP-14). Off: a vendor may bill what it broke off. */
  readonly retryServerErrors?: boolean;
  /** How often an answer that its vendor has paused is asked to go on; a few times unless said. */
  readonly maxContinuations?: number;
};

export type Question = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a JSON object. */
  readonly body: object;
  /** How the answer travels; Server-Sent Events unless said. */
  readonly form?: AnswerForm;
  /** Headers that depend on all that goes out, such as a signature of it. */
  readonly sign?: (call: OutgoingCall) => Promise<Readonly<Record<string, string>>>;
  /** What must not be shown, beside the key and the headers of the model. */
  readonly secrets?: readonly (string | undefined)[];
  /** The vendor's own words for an input that does not fit. */
  readonly overflow?: RegExp;
  readonly assemble: (context: AnswerContext) => Assembler;
};

/** What goes out, as it goes out. */
export type OutgoingCall = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Sends one question and puts its answer together. Rejects with a `ProviderError` and with nothing else. */
export async function ask(
  adapter: AdapterOptions,
  request: ModelRequest,
  options: StreamOptions,
  question: () => Question | Promise<Question>,
): Promise<AssistantMessage> {
  const now = options.now ?? Date.now;
  let vendor = vendorOf(request, adapter.retryServerErrors ?? false);
  try {
    if (options.signal.aborted)
      throw new ProviderError("cancelled", `the question to ${vendor.name} was cancelled`);
    const asked = await question();
    const { url, assemble, form = SERVER_SENT_EVENTS } = asked;
    vendor = vendorOf(request, vendor.retryServerErrors, asked);
    const headers = wireHeaders(request, { accept: form.accept, ...asked.headers });
    const call = { url, headers, body: await toWireJson(asked.body) };
    const signed = { ...call, headers: { ...headers, ...(await asked.sign?.(call)) } };
    at("request:before");
    const onHead = (head: ResponseHeaders) => {
      const limits = readRateLimits(head, now());
      if (limits.length > 0) options.onRateLimits?.(limits);
    };
    const stream = await adapter.http.open({ ...signed, form, vendor, now, signal: options.signal, onHead });
    at("stream:begun");
    const { id: model, provider } = request.model;
    const context = { model, provider, timestamp: now(), vendor, requestId: stream.requestId };
    const reader = form.reader(stream.contentType, vendor);
    return await answer(stream, reader, assemble(context), options, { vendor, limits: adapter.http.limits });
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const message = vendor.mask(error instanceof Error ? error.message : String(error));
    throw new ProviderError("other", `${vendor.name}: ${message}`, { cause: error });
  }
}

async function answer(
  stream: HttpStream,
  reader: AnswerReader,
  assembler: Assembler,
  options: StreamOptions,
  { vendor, limits }: { readonly vendor: Vendor; readonly limits: HttpLimits },
): Promise<AssistantMessage> {
  const progress = new Progress(limits.idleTimeoutMs, performance.now());
  const ended = () => assembler.state === "ended";
  const take = (events: readonly ServerEvent[]) => {
    for (const event of events) {
      const deltas = assembler.push(event);
      progress.heard(event, deltas, performance.now());
      for (const delta of deltas) options.onDelta?.(shortlyNamedDelta(delta));
    }
  };
  try {
    for await (const bytes of stream.bytes) {
      at("stream:bytes");
      if (ended()) continue;
      take(reader.read(bytes));
      if (reader.overrun)
        throw tooLarge(vendor, "one event of its answer had more characters", MAX_EVENT_CHARS);
      if (ended()) stream.drain();
      else if (progress.isOver(performance.now())) throw idleError(vendor, limits);
    }
    if (!ended()) take(reader.end?.() ?? []);
  } catch (error) {
    // Whatever becomes of the connection afterwards, an answer that is all here is an answer.
    const late =
      error instanceof ProviderError && error.fault === "network" && assembler.state === "complete";
    if (!ended() && !late) throw error;
  }
  at("stream:whole");
  const message = assembler.finish();
  return { ...message, content: message.content.map(shortlyNamed) };
}

function vendorOf(
  request: ModelRequest,
  retryServerErrors: boolean,
  { secrets = [], overflow }: Pick<Question, "secrets" | "overflow"> = {},
): Vendor {
  const { model, apiKey, headers = {} } = request;
  const resolved = Object.entries(headers).filter(([name, value]) => model.headers[name] !== value);
  const mask = maskFor([apiKey, ...resolved.map(([, value]) => value), ...secrets]);
  return { name: model.provider, mask, retryServerErrors, overflow };
}

/** To these a configured value is added. */
const LISTS: ReadonlySet<string> = new Set(["anthropic-beta"]);

/** Names in lower case, so that a configured header replaces ours however it is spelt. */
function wireHeaders(request: ModelRequest, own: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "accept-encoding": "identity",
    "user-agent": "holdfast",
    ...own,
  };
  for (const [name, value] of Object.entries(request.headers ?? request.model.headers)) {
    const key = name.toLowerCase();
    const ours = LISTS.has(key) ? headers[key] : undefined;
    headers[key] = ours === undefined || value.includes(ours) ? value : `${ours},${value}`;
  }
  return headers;
}

/** The key, trimmed of the line break of the file that it came from. */
export function keyOf(request: ModelRequest): string | undefined {
  const key = request.apiKey?.trim();
  if (key !== undefined && key !== "") return key;
  const { apiKey, provider } = request.model;
  if (apiKey === undefined) return undefined;
  throw new ProviderError("auth", `${provider} needs a key, and ${apiKey} is not set`);
}
