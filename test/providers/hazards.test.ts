import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { anthropic, local } from "../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import type { HttpClientOptions } from "../../src/models/http-client.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import type { ModelDelta, ModelRequest } from "../../src/models/provider.ts";
import { catchProviderError, createHttp, createRequest, encodeSse } from "./answer-reader.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";

const SECRET = "sk-secret-0123456789abcdef";
const STREAM = { "content-type": "text/event-stream" };

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

async function serve(reply: Parameters<typeof LoopbackServer.start>[0]): Promise<LoopbackServer> {
  const server = await LoopbackServer.start(reply);
  cleanup.push(async () => await server.stop());
  return server;
}

type Ask = HttpClientOptions & {
  readonly retryServerErrors?: boolean;
  readonly signal?: AbortSignal;
  readonly now?: number;
  readonly onDelta?: (delta: ModelDelta) => void;
};

function askWith(kind: "anthropic" | "completions") {
  return (
    url: string,
    { signal, now, retryServerErrors, onDelta, ...options }: Ask = {},
    more: Partial<ModelRequest> = {},
  ) => {
    const pool = createHttp(options);
    cleanup.push(async () => await pool.close());
    const adapter = { http: pool, retryServerErrors: retryServerErrors ?? false };
    const provider = kind === "anthropic" ? new AnthropicMessages(adapter) : new OpenAiCompletions(adapter);
    const model = kind === "anthropic" ? anthropic("claude-x", { baseUrl: url }) : local(url, "m");
    return provider.stream(createRequest(model, { apiKey: SECRET, ...more }), {
      signal: signal ?? new AbortController().signal,
      ...(onDelta !== undefined && { onDelta }),
      ...(now !== undefined && { now: () => now }),
    });
  };
}
const askAnthropic = askWith("anthropic");
const askCompletions = askWith("completions");

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "c1",
  choices: [{ index: 0, delta, finish_reason }],
});
const TEXT = [chunk({ role: "assistant", content: "Grüße " }), chunk({ content: "🌍!" }), chunk({}, "stop")];
const USAGE = { id: "c1", choices: [], usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } };
const COMPLETE = encodeSse([...TEXT, USAGE, "[DONE]"], false);
const CLAUDE = [
  { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße 🌍" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
];

const text = (message: Awaited<ReturnType<typeof askAnthropic>>) =>
  message.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");

describe("a stream", () => {
  const PIECES = [
    chunk({ reasoning: "hm" }),
    chunk({ content: "Hi" }),
    chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "read", arguments: "{}" } }] }),
  ];
  const watched = async (bytes: Buffer) => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(bytes));
    const pool = createHttp();
    cleanup.push(async () => await pool.close());
    const seen: string[] = [];
    const provider = new OpenAiCompletions({ http: pool, retryServerErrors: false });
    const answered = provider.stream(createRequest(local(server.url, "m")), {
      signal: new AbortController().signal,
      onDelta: ({ type, delta }) => seen.push(`${type}: ${delta}`),
    });
    await answered.then(
      ({ stopReason }) => seen.push(`done: ${stopReason}`),
      (error: { fault: string }) => seen.push(`error: ${error.fault}`),
    );
    return seen;
  };
  const deltas = ["thinking: hm", "text: Hi", "toolCall: {}"];

  test("begins, has deltas of three types, and ends with one message or one error, after all of them [TYP-16]", async () => {
    expect(await watched(encodeSse([...PIECES, chunk({}, "tool_calls"), "[DONE]"], false))).toEqual([
      ...deltas,
      "done: toolUse",
    ]);
    expect(await watched(encodeSse(PIECES, false))).toEqual([...deltas, "error: network"]);
    expect(await watched(encodeSse([{ error: { message: "overloaded", code: 529 } }], false))).toEqual([
      expect.stringMatching(/^error: /),
    ]);
  });
});

describe("a stream that is cut off", () => {
  const cuts = {
    "in the middle of a character": COMPLETE.indexOf(Buffer.from("🌍")) + 2,
    "in the middle of an event": COMPLETE.indexOf(Buffer.from("finish_reason")) + 4,
    "between two events": COMPLETE.indexOf(Buffer.from("\n\n")) + 2,
    "before its first event": 0,
  };

  test.each(Object.entries(cuts))("%s, by an orderly end, is a network fault", async (_name, at) => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(COMPLETE.subarray(0, at)));
    const error = await catchProviderError(askCompletions(server.url));
    expect(error).toMatchObject({
      fault: "network",
      message: "local: the stream ended before the answer was complete",
    });
  });

  test.each(Object.entries(cuts))("%s, by a lost connection, is a network fault", async (_name, at) => {
    const server = await serve((response, _received, request) => {
      response.writeHead(200, STREAM).flushHeaders();
      response.write(COMPLETE.subarray(0, Math.max(at, 1)), () => request.socket.destroy());
    });
    const error = await catchProviderError(askCompletions(server.url));
    expect(error.fault).toBe("network");
    expect(error.message).toMatch(/connection was (closed|reset)/);
  });

  test("of Anthropic without message_stop is a network fault, even if its stop reason is known", async () => {
    const server = await serve((response) =>
      response.writeHead(200, STREAM).end(encodeSse(CLAUDE.slice(0, -1))),
    );
    expect(await catchProviderError(askAnthropic(server.url))).toMatchObject({ fault: "network" });
  });

  test("after the finish reason, by a lost connection, is a complete answer", async () => {
    const server = await serve((response, _received, request) => {
      response.writeHead(200, STREAM).flushHeaders();
      response.write(encodeSse([...TEXT, USAGE], false), () => request.socket.destroy());
    });
    const message = await askCompletions(server.url);
    expect(text(message)).toBe("Grüße 🌍!");
    expect(message.usage.totalTokens).toBe(8);
  });

  test("with [DONE] but without a finish reason is a network fault", async () => {
    const server = await serve((response) =>
      response.writeHead(200, STREAM).end(encodeSse([TEXT[0], "[DONE]"], false)),
    );
    expect(await catchProviderError(askCompletions(server.url))).toMatchObject({ fault: "network" });
  });
});

describe("an unusual but complete stream", () => {
  const shapes: Record<string, Buffer> = {
    "without [DONE]": encodeSse([...TEXT, USAGE], false),
    "with CRLF": Buffer.from(COMPLETE.toString().replaceAll("\n", "\r\n")),
    "with a byte order mark": Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), COMPLETE]),
    "with comments, ids and unknown fields": Buffer.from(
      `: hello\n\nid: 4\nretry: 9\nodd: x\n${COMPLETE.toString()}`,
    ),
    "with unknown chunks": encodeSse(
      [{ object: "news" }, { choices: null }, ...TEXT, { choices: [{}] }, USAGE, "[DONE]"],
      false,
    ),
    "with usage before the end": encodeSse([...TEXT.slice(0, 2), USAGE, TEXT[2], "[DONE]"], false),
    "with events after the end": Buffer.concat([COMPLETE, encodeSse([chunk({ content: "no" })], false)]),
  };

  test.each(Object.entries(shapes))("%s", async (_name, bytes) => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(bytes));
    const message = await askCompletions(server.url);
    expect(text(message)).toBe("Grüße 🌍!");
    expect(message).toMatchObject({ stopReason: "stop", usage: { input: 5, output: 3, totalTokens: 8 } });
  });

  test("is decompressed, although compression was not requested", async () => {
    const server = await serve(async (response, { headers }) => {
      expect(headers["accept-encoding"]).toBe("identity");
      response.writeHead(200, { ...STREAM, "content-encoding": "gzip" });
      await writeSlices(response, [gzipSync(COMPLETE).subarray(0, 20), gzipSync(COMPLETE).subarray(20)]);
    });
    expect(text(await askCompletions(server.url))).toBe("Grüße 🌍!");
  });

  test("is a network fault if it is compressed and cut off", async () => {
    const server = await serve((response) => {
      response
        .writeHead(200, { ...STREAM, "content-encoding": "gzip" })
        .end(gzipSync(COMPLETE).subarray(0, 40));
    });
    expect(await catchProviderError(askCompletions(server.url))).toMatchObject({ fault: "network" });
  });

  test("with an unknown encoding is reported", async () => {
    const server = await serve((response) =>
      response.writeHead(200, { ...STREAM, "content-encoding": "zstd2" }).end("x"),
    );
    expect((await catchProviderError(askCompletions(server.url))).message).toContain(
      "unknown content-encoding",
    );
  });

  test("of Anthropic may have unknown events, blocks and deltas", async () => {
    const odd = [
      CLAUDE[0],
      { type: "brand_new", index: 0 },
      { type: "content_block_start", index: 0, content_block: { type: "hologram", x: 1 } },
      { type: "content_block_delta", index: 0, delta: { type: "hologram_delta" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Grüße 🌍" } },
      { type: "content_block_delta", index: 1, delta: { type: "glitter_delta", text: "no" } },
      { type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "no" } },
      ...CLAUDE.slice(3),
    ];
    const server = await serve((response) => response.writeHead(200, STREAM).end(encodeSse(odd)));
    expect(text(await askAnthropic(server.url))).toBe("Grüße 🌍");
  });

  test("ends without waiting for the server to close it, and its connection is dropped", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).write(encodeSse(CLAUDE)));
    expect(text(await askAnthropic(server.url))).toBe("Grüße 🌍");
    await server.waitUntilClosed();
  });

  test("leaves its connection to the next request", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(encodeSse(CLAUDE)));
    const pool = createHttp();
    cleanup.push(async () => await pool.close());
    const provider = new AnthropicMessages({ http: pool });
    for (let turn = 0; turn < 3; turn += 1) {
      // A connection is free again one round of the event loop after its answer.
      await new Promise((resolve) => setImmediate(resolve));
      await provider.stream(createRequest(anthropic("c", { baseUrl: server.url })), {
        signal: new AbortController().signal,
      });
    }
    expect(server.received.map(({ connection }) => connection)).toEqual([1, 1, 1]);
  });
});

describe("a response that is not a stream", () => {
  const PAGE =
    "<!DOCTYPE html><html><head><style>b{}</style></head><body><h1>Sign in</h1> to the hotel network</body></html>";

  test("a page with status 200 is reported as a page", async () => {
    const server = await serve((response) =>
      response.writeHead(200, { "content-type": "text/html" }).end(PAGE),
    );
    const error = await catchProviderError(askAnthropic(server.url));
    expect(error).toMatchObject({ fault: "api", status: 200 });
    expect(error.message).toContain("an HTML page instead of a stream");
    expect(error.message).toContain("Sign in to the hotel network");
    expect(error.message).not.toContain("<");
  });

  test("a huge page with status 502 is truncated", async () => {
    const page = PAGE + "x ".repeat(200_000);
    const server = await serve((response) =>
      response.writeHead(502, { "content-type": "text/html" }).end(page),
    );
    const error = await catchProviderError(askCompletions(server.url));
    expect(error).toMatchObject({ fault: "api", status: 502 });
    expect(error.message.length).toBeLessThan(600);
    await server.waitUntilClosed();
  });

  test("an endless error is cut off, and its connection is closed", async () => {
    const server = await serve((response) => {
      const more = () => response.write("x".repeat(10_000), (error) => error ?? setImmediate(more));
      response.writeHead(500);
      more();
    });
    expect(await catchProviderError(askCompletions(server.url))).toMatchObject({ fault: "api", status: 500 });
    await server.waitUntilClosed();
  });

  test("an error object with status 200 is an error of the vendor", async () => {
    const body = JSON.stringify({ error: { message: "slow down", type: "rate_limit_error" } });
    const server = await serve((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(body),
    );
    expect(await catchProviderError(askCompletions(server.url))).toMatchObject({ fault: "rate-limited" });
  });

  test("a JSON body in place of a stream is rejected", async () => {
    const server = await serve((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end("{}"),
    );
    expect((await catchProviderError(askCompletions(server.url))).message).toContain("application/json");
  });

  test("a redirect is rejected, and the key is not forwarded", async () => {
    const target = await serve((response) => response.writeHead(200, STREAM).end(COMPLETE));
    const server = await serve((response) =>
      response.writeHead(307, { location: `${target.url}/v1/chat/completions` }).end(),
    );
    const error = await catchProviderError(askCompletions(server.url));
    expect(error).toMatchObject({ fault: "api", status: 307 });
    expect(error.message).toContain(target.url);
    expect(target.received).toEqual([]);
  });
});

describe("errors with a status", () => {
  const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
  const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    serve((response) =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(typeof body === "string" ? body : JSON.stringify(body)),
    );
  const limit = {
    type: "error",
    error: { type: "rate_limit_error", message: "slow down" },
    request_id: "req_7",
  };

  test.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0.25" }, 250],
    [{ "retry-after-ms": "1234", "retry-after": "9" }, 1234],
    [{ "retry-after": new Date(NOW + 90_000).toUTCString() }, 90_000],
    [{ "retry-after": new Date(NOW - 90_000).toUTCString() }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "NaN" }, undefined],
    [{ "retry-after": "999999999999" }, 604_800_000],
    [{ "retry-after": "9".repeat(400) }, 604_800_000],
    [{ "retry-after-ms": "-1" }, undefined],
    [{}, undefined],
  ])("429 with %j", async (headers, retryAfterMs) => {
    const server = await answer(429, limit, headers as Record<string, string>);
    const error = await catchProviderError(askAnthropic(server.url, { now: NOW }));
    expect(error).toMatchObject({
      fault: "rate-limited",
      status: 429,
      vendorType: "rate_limit_error",
      requestId: "req_7",
    });
    expect(error.retryAfterMs).toBe(retryAfterMs);
    expect(error.message).toBe("anthropic answered 429: slow down (rate_limit_error, request id req_7)");
  });

  test("overload is a rate limit, by status and by type; other server errors are not, and are network faults only if configured [GAP-14]", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(await catchProviderError(askAnthropic((await answer(529, overloaded)).url))).toMatchObject({
      fault: "rate-limited",
    });
    expect(await catchProviderError(askAnthropic((await answer(503, overloaded)).url))).toMatchObject({
      fault: "rate-limited",
    });
    expect(await catchProviderError(askCompletions((await answer(529, "busy")).url))).toMatchObject({
      fault: "rate-limited",
    });
    const down = await answer(500, { error: { type: "api_error", message: "down" } });
    expect(await catchProviderError(askAnthropic(down.url))).toMatchObject({ fault: "api", status: 500 });
    expect(await catchProviderError(askAnthropic(down.url, { retryServerErrors: true }))).toMatchObject({
      fault: "network",
    });
  });

  test("input that does not fit is an overflow, whatever the status", async () => {
    const long = {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 212000 tokens > 200000 maximum" },
    };
    expect(await catchProviderError(askAnthropic((await answer(400, long)).url))).toMatchObject({
      fault: "overflow",
    });
    expect(await catchProviderError(askCompletions((await answer(400, "")).url))).toMatchObject({
      fault: "overflow",
    });
    expect(await catchProviderError(askCompletions((await answer(413, " \n")).url))).toMatchObject({
      fault: "overflow",
    });
    expect(await catchProviderError(askCompletions((await answer(400, "bad")).url))).toMatchObject({
      fault: "api",
    });
    const code = { error: { message: "no", code: "context_length_exceeded" } };
    expect(await catchProviderError(askCompletions((await answer(400, code)).url))).toMatchObject({
      fault: "overflow",
    });
    const throttled = { message: "Too many tokens, please wait before trying again." };
    expect(await catchProviderError(askCompletions((await answer(429, throttled)).url))).toMatchObject({
      fault: "rate-limited",
    });
  });

  test("a body that cannot be read does not count as blank", async () => {
    const server = await serve((response, _received, request) => {
      response.writeHead(400, { "content-length": "100" }).flushHeaders();
      setImmediate(() => request.socket.destroy());
    });
    expect(await catchProviderError(askCompletions(server.url))).toMatchObject({ fault: "api", status: 400 });
  });

  test("an echoed key is masked, even where the message is truncated within it", async () => {
    const headers = { "x-team": "Bearer team-token-123456" };
    const long = {
      error: { message: `${"x".repeat(490)}${SECRET} Incorrect API key ${SECRET}, team team-token-123456` },
    };
    const server = await answer(401, long, { "x-request-id": SECRET });
    const error = await catchProviderError(askCompletions(server.url, {}, { headers }));
    expect(error.fault).toBe("auth");
    expect(error.message).toContain("***");
    const short = await answer(401, `Incorrect API key ${SECRET}, team team-token-123456`);
    const again = await catchProviderError(askCompletions(short.url, {}, { headers }));
    expect(again.message).toBe("local answered 401: Incorrect API key ***, team ***");
    for (const said of [error, again]) {
      expect(JSON.stringify([said.message, said.stack, said.requestId, said.cause])).not.toMatch(
        /sk-sec|team-token/,
      );
    }
  });
});

describe("errors in mid-stream", () => {
  test.each([
    [{ type: "overloaded_error", message: "Overloaded" }, "rate-limited"],
    [{ type: "rate_limit_error", message: "slow" }, "rate-limited"],
    [{ type: "authentication_error", message: "key" }, "auth"],
    [{ type: "api_error", message: "oops" }, "api"],
    [{ type: "invalid_request_error", message: "prompt is too long" }, "overflow"],
  ])("Anthropic's %j is %s", async (error, fault) => {
    const events = [...CLAUDE.slice(0, 3), { type: "error", error, request_id: "req_9" }];
    const server = await serve((response) =>
      response.writeHead(200, { ...STREAM, "request-id": "req_8" }).end(encodeSse(events)),
    );
    const got = await catchProviderError(askAnthropic(server.url));
    expect(got).toMatchObject({ fault, vendorType: error.type, requestId: "req_9" });
    expect(got.message).toContain(error.message);
  });

  test.each([
    [{ error: { message: "Provider returned error", code: 502, metadata: { raw: "upstream down" } } }, "api"],
    [{ error: { message: "busy", code: 429 } }, "rate-limited"],
    [{ error: { message: "This model's maximum context length is 10 tokens" } }, "overflow"],
    [{ object: "error", message: "vLLM says no" }, "api"],
    [chunk({}, "error"), "api"],
    [chunk({}, "insufficient_system_resource"), "rate-limited"],
    ["<html>502</html>", "network"],
  ])("a chunk %j is %s", async (piece, fault) => {
    const server = await serve((response) =>
      response.writeHead(200, STREAM).end(encodeSse([TEXT[0], piece], false)),
    );
    expect(await catchProviderError(askCompletions(server.url))).toMatchObject({ fault });
  });
});

describe("time limits and connections", () => {
  test("a port on which nothing listens is a network fault with the address", async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const error = await catchProviderError(askCompletions(`http://127.0.0.1:${port}`));
    expect(error).toMatchObject({ fault: "network" });
    expect(error.message).toBe(`local at 127.0.0.1:${port}: nothing listens there (ECONNREFUSED)`);
  });

  test("a missing response head is a network fault after the time limit", async () => {
    const server = await serve(() => {});
    const error = await catchProviderError(askCompletions(server.url, { firstByteTimeoutMs: 50 }));
    expect(error.fault).toBe("network");
    expect(error.message).toContain("no answer within 50 ms");
    await server.waitUntilClosed();
  });

  test("silence in the middle of an answer is a network fault after the time limit", async () => {
    const server = await serve((response) =>
      response.writeHead(200, STREAM).write(encodeSse([TEXT[0]], false)),
    );
    const error = await catchProviderError(askCompletions(server.url, { bodyTimeoutMs: 50 }));
    expect(error.fault).toBe("network");
    expect(error.message).toContain("silent for 50 ms");
    await server.waitUntilClosed();
  });

  test("cancelling before the head closes the connection", async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort());
    expect(await catchProviderError(askAnthropic(server.url, { signal: controller.signal }))).toMatchObject({
      fault: "cancelled",
    });
    await server.waitUntilClosed();
  });

  test("cancelling in the middle of an answer closes the connection", async () => {
    const controller = new AbortController();
    const server = await serve((response) =>
      response.writeHead(200, STREAM).write(encodeSse(CLAUDE.slice(0, 3))),
    );
    const pool = createHttp();
    cleanup.push(async () => await pool.close());
    const provider = new AnthropicMessages({ http: pool });
    const request = createRequest(anthropic("c", { baseUrl: server.url }));
    const deltas: string[] = [];
    const error = await catchProviderError(
      provider.stream(request, {
        signal: controller.signal,
        onDelta: ({ delta }) => {
          deltas.push(delta);
          controller.abort();
        },
      }),
    );
    expect(error).toMatchObject({ fault: "cancelled" });
    expect(deltas).toEqual(["Grüße 🌍"]);
    await server.waitUntilClosed();
  });

  test("a request that is cancelled beforehand is not sent", async () => {
    const server = await serve(() => {});
    expect(await catchProviderError(askAnthropic(server.url, { signal: AbortSignal.abort() }))).toMatchObject(
      {
        fault: "cancelled",
      },
    );
    expect(server.received).toEqual([]);
  });

  test("an error that the delta listener throws becomes a fault, and the connection closes", async () => {
    const server = await serve((response) =>
      response.writeHead(200, STREAM).write(encodeSse(CLAUDE.slice(0, 3))),
    );
    const pool = createHttp();
    cleanup.push(async () => await pool.close());
    const cause = new Error("the watcher is gone");
    const error = await catchProviderError(
      new AnthropicMessages({ http: pool }).stream(createRequest(anthropic("c", { baseUrl: server.url })), {
        signal: new AbortController().signal,
        onDelta: () => {
          throw cause;
        },
      }),
    );
    expect(error).toMatchObject({ fault: "other", cause });
    await server.waitUntilClosed();
  });

  test("each request is sent once", async () => {
    const server = await serve((response) => response.writeHead(503).end("down"));
    await catchProviderError(askCompletions(server.url));
    expect(server.received.length).toBe(1);
  });
});

describe("keys and headers", () => {
  test("a model that names a key is not called without one", async () => {
    const server = await serve(() => {});
    const error = await catchProviderError(askAnthropic(server.url, {}, { apiKey: undefined }));
    expect(error).toMatchObject({
      fault: "auth",
      message: `anthropic needs a key, and \${ANTHROPIC_API_KEY} is not set`,
    });
    expect(server.received).toEqual([]);
  });

  test("a key that is invalid in a header is a fault of ours, and is not displayed", async () => {
    const server = await serve(() => {});
    const error = await catchProviderError(askAnthropic(server.url, {}, { apiKey: "bad\nkey-0123456789" }));
    expect(error.fault).toBe("other");
    expect(`${error.message} ${error.stack}`).not.toContain("key-0123456789");
  });

  test("a key is trimmed of the line break of its file; configured headers override ours", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(COMPLETE));
    await askCompletions(
      server.url,
      {},
      { apiKey: `${SECRET}\n`, headers: { "User-Agent": "mine", "X-Team": "a" } },
    );
    expect(server.received[0]).toMatchObject({
      method: "POST",
      url: "/v1/chat/completions",
      headers: {
        authorization: `Bearer ${SECRET}`,
        "user-agent": "mine",
        "x-team": "a",
        "content-type": "application/json",
      },
    });
  });
});

describe("an unbounded answer", () => {
  const LIMIT = 8 * 1024 * 1024;
  const endless = async (first: readonly object[], more: object, named: boolean) =>
    await serve((response) => {
      const piece = encodeSse([more], named);
      const next = () => response.write(piece, (error) => error ?? setImmediate(next));
      response.writeHead(200, STREAM).write(encodeSse(first, named));
      next();
    });
  const PIECE = "ü".repeat(50_000);
  const call = (fields: object) => chunk({ tool_calls: [{ index: 0, function: fields }] });
  const block = (content_block: object) => [{ type: "content_block_start", index: 0, content_block }];
  const delta = (fields: object) => ({ type: "content_block_delta", index: 0, delta: fields });
  const detail = (fields: object) => chunk({ reasoning_details: [{ index: 0, ...fields }] });

  const completions: Record<string, readonly [readonly object[], object]> = {
    "its text": [[], chunk({ content: PIECE })],
    "its thinking": [[], chunk({ reasoning: PIECE })],
    "its encrypted thinking": [[], detail({ type: "reasoning.encrypted", data: PIECE })],
    "the arguments of a call": [[call({ name: "write", arguments: "{" })], call({ arguments: PIECE })],
  };
  const claude: Record<string, readonly [readonly object[], object]> = {
    "its text": [block({ type: "text" }), delta({ type: "text_delta", text: PIECE })],
    "its thinking": [block({ type: "thinking" }), delta({ type: "thinking_delta", thinking: PIECE })],
    "its signatures": [block({ type: "thinking" }), delta({ type: "signature_delta", signature: PIECE })],
    "the arguments of a call": [
      block({ type: "tool_use", id: "t", name: "write" }),
      delta({ type: "input_json_delta", partial_json: PIECE }),
    ],
  };

  const refused = async (answered: Promise<unknown>, server: LoopbackServer) => {
    const error = await catchProviderError(answered);
    expect(error.fault).toBe("api");
    const [, found] = error.message.match(/: its answer had (\d+) bytes when Holdfast ended it/) ?? [];
    expect(Number(found)).toBeGreaterThan(LIMIT);
    expect(Number(found)).toBeLessThan(LIMIT + 200_000);
    expect(error.message).toContain(`the limit is ${LIMIT}`);
    await server.waitUntilClosed();
  };

  test.each(Object.entries(completions))(
    "is ended at the limit by %s, and its connection is closed",
    async (_name, [first, more]) => {
      const server = await endless(first, more, false);
      await refused(askCompletions(server.url), server);
    },
  );

  test.each(Object.entries(claude))(
    "of Anthropic is ended at the limit by %s",
    async (_name, [first, more]) => {
      const server = await endless([...CLAUDE.slice(0, 1), ...first], more, true);
      await refused(askAnthropic(server.url), server);
    },
  );

  test("is ended at the limit by the number of its calls, from either vendor", async () => {
    const one = { function: { name: "a", arguments: "{}" } };
    const many = await endless([], chunk({ tool_calls: Array(200).fill(one) }), false);
    const begun = (index: number) => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `t${index}`, name: "a", input: {} },
    });
    const claudes = Array.from({ length: 300 }, (_, index) => begun(index));
    const others = await endless([...CLAUDE.slice(0, 1), ...claudes], { type: "ping" }, true);
    for (const [answered, server] of [
      [() => askCompletions(many.url), many],
      [() => askAnthropic(others.url), others],
    ] as const) {
      const error = await catchProviderError(answered());
      expect(error.fault).toBe("api");
      expect(error.message).toContain(
        "its answer had 257 calls when Holdfast ended it, and the limit is 256",
      );
      await server.waitUntilClosed();
    }
  });

  test("is ended when one event is too long, and is not retried", async () => {
    const server = await serve((response) => {
      const next = () => response.write("x".repeat(500_000), (error) => error ?? setImmediate(next));
      response.writeHead(200, STREAM).write("data: ");
      next();
    });
    const error = await catchProviderError(askCompletions(server.url));
    expect(error.fault).toBe("api");
    expect(error.message).toContain(`the limit is ${2 * LIMIT}`);
    await server.waitUntilClosed();
  });

  test("of the maximum size is complete, whatever the overhead of its events", async () => {
    const wordy = { choices: [{ index: 0, delta: { content: "abcd" } }], padding: "p".repeat(4000) };
    const long = "x".repeat(LIMIT - 12_000);
    const events = [...Array(2500).fill(wordy), chunk({ content: long }), chunk({}, "stop"), "[DONE]"];
    const server = await serve((response) => response.writeHead(200, STREAM).end(encodeSse(events, false)));
    expect(text(await askCompletions(server.url))).toHaveLength(LIMIT - 2000);
  });
});

describe("the id of a call", () => {
  const answered = async (id: string) => {
    const events = [
      chunk({ tool_calls: [{ index: 0, id, function: { name: "look", arguments: "{" } }] }),
      chunk({ tool_calls: [{ index: 0, id, function: { arguments: "}" } }] }),
      chunk({}, "tool_calls"),
    ];
    const server = await serve((response) => response.writeHead(200, STREAM).end(encodeSse(events, false)));
    const seen: ModelDelta[] = [];
    const message = await askCompletions(server.url, { onDelta: (delta) => seen.push(delta) });
    const [call] = message.content;
    if (call?.type !== "toolCall") throw new Error("expected a call");
    return { server, message, call, shown: seen.map((delta) => delta.type === "toolCall" && delta.id) };
  };

  test("is the vendor's, up to 256 bytes", async () => {
    const { call, shown } = await answered("ü".repeat(128));
    expect(call).toEqual({ type: "toolCall", id: "ü".repeat(128), name: "look", arguments: {} });
    expect(shown).toEqual([call.id, call.id]);
  });

  test("is replaced if Anthropic's server repeats it or leaves it empty", async () => {
    const begun = (id: string, index: number) => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id, name: "look", input: {} },
    });
    const blocks = ["t", "", "t", "", "t"].map(begun);
    const events = [...CLAUDE.slice(0, 1), ...blocks, { type: "message_stop" }];
    const server = await serve((response) => response.writeHead(200, STREAM).end(encodeSse(events, true)));
    const { content } = await askAnthropic(server.url);
    expect(content.map((part) => part.type === "toolCall" && part.id)).toEqual([
      ...["t", "call_2", "t_2", "call_4", "t_3"],
    ]);
  });

  test("is replaced by a short one if it is longer, and sent back to its vendor in full", async () => {
    const long = `call_1__thought__${"c2lnbmF0dXJl".repeat(400)}`;
    const { server, message, call, shown } = await answered(long);
    expect(call.id).toMatch(/^[a-z0-9_]{1,40}$/);
    expect(shown).toEqual([call.id, call.id]);
    expect((await answered(long)).call.id).toBe(call.id);
    expect((await answered(`${long}x`)).call.id).not.toBe(call.id);
    const result = {
      role: "toolResult" as const,
      toolCallId: call.id,
      toolName: "look",
      content: [{ type: "text" as const, text: "seen" }],
      isError: false,
      timestamp: 1,
    };
    const asked = async (answer: typeof message) => {
      await askCompletions(server.url, {}, { messages: [answer, result] });
      const { messages } = JSON.parse(server.received.at(-1)?.body ?? "");
      return [messages[0].tool_calls[0].id, messages[1].tool_call_id, messages[1].content];
    };
    expect(await asked(message)).toEqual([long, long, "seen"]);
    expect(await asked({ ...message, provider: "another" })).toEqual([call.id, call.id, "seen"]);
  });
});
