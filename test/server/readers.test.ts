import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Holdfast, SessionEvent } from "../../src/client/index.ts";
import { eventually } from "../support/eventually.ts";
import {
  agentEnd,
  agentStart,
  answer,
  loopId,
  messageEnd,
  messageUpdate,
  text,
  toolEnd,
  turnStart,
} from "./agent-events.ts";
import { bearer, readEvents, startServer, type TestApiServer, TOKEN } from "./test-api-server.ts";

let server: TestApiServer;
afterEach(() => server.close());

/** A session that sends a test's events to any number of readers. */
function telling(
  tell: (from: string | undefined, signal: AbortSignal) => AsyncIterable<Omit<SessionEvent, "session">>,
): Holdfast {
  const status = { session: "s", open: true, status: "running", loopId };
  const session = {
    id: "s",
    status: async () => status,
    messages: { list: async () => [] },
    async *events({ from, signal }: { from?: string; signal: AbortSignal }) {
      for await (const one of tell(from, signal)) yield { session: "s", ...one };
    },
  };
  return { namespace: "default", session: () => session } as unknown as Holdfast;
}

const gone = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

const EVENTS = "/v1/sessions/s/events";
const askFor = (path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`;

test("200 simultaneous readers receive everything; one more than the maximum is rejected, and accepted when another leaves", async () => {
  let letGo = () => {};
  const wait = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const holdfast = telling(async function* () {
    yield { cursor: "c1", event: agentStart };
    await wait;
    yield { cursor: "c2", event: agentEnd() };
  });
  server = await startServer(holdfast, { limits: { maxStreams: 200 } });
  const leave = new AbortController();
  const leaver = (async () => {
    try {
      for await (const _ of readEvents(server, EVENTS, { signal: leave.signal }));
    } catch {}
  })();
  const readers = Array.from({ length: 199 }, async () => {
    const types = [];
    for await (const { data } of readEvents(server, EVENTS)) types.push(data["type"]);
    return types.join(" ");
  });
  await eventually(() => server.streams === 200, { what: "all readers" });
  const refused = await fetch(`${server.url}${EVENTS}`, { headers: bearer });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  leave.abort();
  await leaver;
  await eventually(() => server.streams === 199, { what: "room for another" });
  const late = fetch(`${server.url}${EVENTS}`, { headers: bearer });
  expect((await late).status).toBe(200);
  letGo();
  expect(new Set(await Promise.all(readers))).toEqual(new Set(["AgentStart AgentEnd result"]));
  await (await late).text();
  await eventually(() => server.streams === 0);
});

test("a reader that never reads is disconnected; its buffer is bounded, and it resumes at its position", async () => {
  let pulled = 0;
  const row = "x".repeat(100_000);
  const holdfast = telling(async function* (from, signal) {
    for (let n = from === undefined ? 0 : Number(from.slice(1)); n < 1_000 && !signal.aborted; n += 1) {
      pulled = n;
      yield { cursor: `c${n + 1}`, event: toolEnd(`t${n}`, row) };
    }
  });
  server = await startServer(holdfast, { limits: { stallMs: 300 } });
  const socket: Socket = connect({ port: server.port, host: "127.0.0.1" });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write(askFor(EVENTS));
  await eventually(() => server.streams === 1, { what: "the stream" });
  await eventually(() => server.streams === 0, { what: "the end of the stream" });
  // The operating system buffers some megabytes for a reader that does not read; our own process does not.
  const last = pulled;
  expect(last).toBeLessThan(200);
  socket.destroy();
  const [next] = await firstOf(readEvents(server, EVENTS, { headers: { "last-event-id": `c${last}` } }));
  expect(next?.id).toBe(`c${last + 1}`);
  expect(server.reportedErrors).toEqual([]);
});

test("a slow reader skips updates that a later one contains, and receives everything else", async () => {
  const words = "word ".repeat(20_000);
  const holdfast = telling(async function* () {
    yield { cursor: "c0", event: agentStart };
    yield { cursor: "c1", event: turnStart(0) };
    for (let at = 50; at <= words.length; at += 50) {
      yield {
        cursor: "c2",
        event: messageUpdate([text(words.slice(0, at))], "text", words.slice(at - 50, at)),
      };
      yield { cursor: "c3", event: toolEnd(`t${at}`, "y".repeat(2_000)) };
    }
    yield { cursor: "c4", event: messageEnd(answer([text(words)])) };
    yield { cursor: "c5", event: agentEnd() };
  });
  server = await startServer(holdfast);
  const events: string[] = [];
  let shown = "";
  for await (const { data } of readEvents(server, EVENTS)) {
    events.push(String(data["type"]));
    if (data["type"] !== "MessageUpdate") continue;
    const { message, delta } = data as {
      message?: { content: { text: string }[] };
      delta: { delta: string };
    };
    shown = message?.content[0]?.text ?? shown + delta.delta;
    // Reads slowly.
    if (events.length % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(events.filter((type) => type === "ToolExecutionEnd")).toHaveLength(2_000);
  expect(events.filter((type) => type === "MessageUpdate").length).toBeLessThan(1_900);
  expect(words.startsWith(shown)).toBe(true);
  expect(events.slice(-3)).toEqual(["MessageEnd", "AgentEnd", "result"]);
});

test("a silent stream sends heartbeats; when the server closes, readers are informed and reconnect", async () => {
  const holdfast = telling(async function* (_from, signal) {
    yield { cursor: "c1", event: agentStart };
    await gone(signal);
  });
  server = await startServer(holdfast, { limits: { heartbeatMs: 30 } });
  const response = await fetch(`${server.url}${EVENTS}`, { headers: bearer });
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let all = "";
  while (!all.includes(": still here\n\n: still here")) all += (await reader.read()).value ?? "";
  expect(all.startsWith("retry: 1000\n\nid: c1\ndata: ")).toBe(true);
  const chat = await fetch(`${server.url}/v1/chat/s/stream`, { headers: bearer });
  const page = chat.text().then(
    () => "ended",
    () => "cut off",
  );
  const closed = server.close();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) all += piece.value;
  await closed;
  expect(all).toContain(": the server is closing; reconnect");
  expect(all).not.toContain("event: end");
  // A page would interpret an end as the end of the answer.
  expect(await page).toBe("cut off");
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});

async function firstOf<T>(all: AsyncIterable<T>): Promise<T[]> {
  for await (const one of all) return [one];
  return [];
}

test("connections that send no headers are closed soon after their time limit, not half a minute later", async () => {
  const holdfast = telling(async function* () {});
  server = await startServer(holdfast, { headersMs: 300 });
  const { hostname, port } = new URL(server.url);
  const begun = performance.now();
  const closed = Array.from({ length: 50 }, async () => {
    const socket: Socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => undefined);
    socket.write("GET /v1/sessions HTTP/1.1\r\nhost: local");
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
  });
  await Promise.all(closed);
  expect(performance.now() - begun).toBeLessThan(5_000);
});
