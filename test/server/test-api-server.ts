import { request } from "node:http";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect } from "vitest";
import { type ServeOptions, type Server, serve } from "../../src/apps/server/server.ts";
import type { Holdfast } from "../../src/client/index.ts";
import { SentSessionEvent } from "../../src/schema/session-event.ts";
import { checkAnswer, checkEvent } from "./openapi-checker.ts";

export const TOKEN = "a-token-of-these-tests";
export const bearer = { authorization: `Bearer ${TOKEN}` };

export type TestApiServer = Server & { readonly reportedErrors: unknown[] };

/** A server on its own port. Without a Holdfast, no request may reach it. */
export async function startServer(
  holdfast: Holdfast | undefined,
  options: Partial<ServeOptions> = {},
): Promise<TestApiServer> {
  const reportedErrors: unknown[] = [];
  const server = await serve({
    holdfast: holdfast as Holdfast,
    token: TOKEN,
    host: "127.0.0.1",
    port: 0,
    allowHosts: [],
    allowOrigins: [],
    agents: new Map(),
    version: "0.0.0-test",
    reportError: (error) => reportedErrors.push(error),
    ...options,
  });
  return Object.defineProperties(server, { reportedErrors: { value: reportedErrors } }) as TestApiServer;
}

/** Sends requests with the token; both bodies are JSON. */
export async function sendRequest(
  { url }: Server,
  route: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }> {
  const [method = "GET", path = "/"] = route.split(" ");
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...bearer, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === "" ? {} : JSON.parse(text);
  checkAnswer(method, path, response, answer);
  return { status: response.status, body: answer, headers: response.headers };
}

export type SentEvent = {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  /** Of a session's event, the event itself. */
  readonly data: Record<string, unknown>;
};

/** A stream of events as an EventSource reads it, until the server or the reader ends it. */
export async function* readEvents(
  { url }: Server,
  path: string,
  { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): AsyncGenerator<SentEvent> {
  const response = await fetch(`${url}${path}`, {
    headers: { ...bearer, ...headers },
    ...(signal && { signal }),
  });
  if (response.status === 204) return;
  if (!response.ok || response.body === null) throw new Error(await response.text());
  const parsed = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { id, event, data } of parsed) yield readSentEvent(id, event, JSON.parse(data));
}

function readSentEvent(
  id: string | undefined,
  event: string | undefined,
  data: Record<string, unknown>,
): SentEvent {
  checkEvent(event, data);
  if (event !== undefined) return { id, event, data };
  const sent = SentSessionEvent.parse(data);
  expect(sent.cursor).toBe(id);
  return { id, event, data: data["event"] as Record<string, unknown> };
}

/** Raw bytes, for requests that no client would send. */
export function sendRawRequest(
  { port }: Server,
  options: { method?: string; path: string; headers?: Record<string, string> },
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const clientRequest = request({ host: "127.0.0.1", port, ...options }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    clientRequest.on("error", reject);
    clientRequest.end();
  });
}
