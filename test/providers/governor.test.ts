import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { anthropic } from "../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { Governor } from "../../src/models/governor/governor.ts";
import type { ModelRequest, Provider, StreamOptions } from "../../src/models/provider.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { catchProviderError, createHttp, createRequest, encodeSse } from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

const answer = { usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } } as AssistantMessage;

/** A vendor whose answers the test releases one by one. */
function vendor() {
  const asked: { request: ModelRequest; give: (error?: ProviderError) => void; options: StreamOptions }[] =
    [];
  const provider: Provider = {
    id: "fake",
    protocol: "anthropic_messages",
    stream: (request, options) =>
      new Promise((resolve, reject) => {
        const give = (error?: ProviderError) => (error === undefined ? resolve(answer) : reject(error));
        asked.push({ request, give, options });
      }),
  };
  return { asked, provider };
}

const model = anthropic("claude-x");
const ask = (provider: Provider, more: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
  provider.stream(createRequest(model, more), { signal });

describe("waiting", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("each key has a lane of its own, and a vendor without limits of its own has those of `default`", async () => {
    const { asked, provider } = vendor();
    const governed = new Governor({ limits: { default: { concurrent: 1 } } }).govern(provider);
    const answers = ["a", "a", "b"].map((apiKey) => ask(governed, { apiKey }));
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.map(({ request }) => request.apiKey)).toEqual(["a", "b"]);
    for (let given = 0; given < 3; given += 1) {
      asked[given]?.give();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(await Promise.all(answers)).toHaveLength(3);
  });

  test("a full minute is awaited with a timer", async () => {
    const { asked, provider } = vendor();
    const governed = new Governor({ limits: { anthropic: { requestsPerMinute: 2 } } }).govern(provider);
    const answers = [1, 2, 3].map(() => ask(governed));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(3);
    for (const { give } of asked) give();
    await Promise.all(answers);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a waiting request is notified of the reason, and when it may proceed", async () => {
    const { asked, provider } = vendor();
    const governed = new Governor({ limits: { anthropic: { requestsPerMinute: 1 } } }).govern(provider);
    const waits: unknown[] = [];
    const signal = new AbortController().signal;
    const options = { signal, onWait: (wait: unknown) => waits.push(wait) };
    const first = governed.stream(createRequest(model), options);
    await vi.advanceTimersByTimeAsync(0);
    expect(waits).toEqual([undefined]);
    const second = governed.stream(createRequest(model), options);
    await vi.advanceTimersByTimeAsync(0);
    const rate = { type: "rate", vendor: "anthropic", ahead: 0 };
    expect(waits.slice(1)).toMatchObject([rate]);
    expect((waits[1] as { forMs: number }).forMs).toBeCloseTo(60_000, -2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(waits.at(-1)).toBeUndefined();
    for (const { give } of asked) give();
    await Promise.all([first, second]);
  });

  test("a request that is cancelled while it waits leaves at once, and the next takes its turn", async () => {
    const { asked, provider } = vendor();
    const governed = new Governor({ limits: { anthropic: { concurrent: 1 } } }).govern(provider);
    const leaves = new AbortController();
    void ask(governed, { apiKey: "k", systemPrompt: "1" });
    const cancelled = catchProviderError(ask(governed, { apiKey: "k", systemPrompt: "2" }, leaves.signal));
    void ask(governed, { apiKey: "k", systemPrompt: "3" });
    leaves.abort();
    expect((await cancelled).fault).toBe("cancelled");
    asked[0]?.give();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.map(({ request }) => request.systemPrompt)).toEqual(["1", "3"]);
  });

  test("a vendor that is closed for long is an error with the delay, for waiting and for new requests", async () => {
    const { asked, provider } = vendor();
    const governed = new Governor({ limits: { anthropic: { concurrent: 1 } } }).govern(provider);
    const first = catchProviderError(ask(governed));
    const waits = catchProviderError(ask(governed));
    await vi.advanceTimersByTimeAsync(0);
    asked[0]?.give(new ProviderError("rate-limited", "enough for today", { retryAfterMs: 3_600_000 }));
    expect((await first).message).toBe("enough for today");
    for (const error of [await waits, await catchProviderError(ask(governed))]) {
      expect(error).toMatchObject({ fault: "rate-limited", retryAfterMs: 900_000 });
      expect(error.message).toContain("anthropic accepts no requests to claude-x for now");
    }
    expect(asked).toHaveLength(1);
    // A rejection is trusted for less than an hour: one request tries again earlier.
    await vi.advanceTimersByTimeAsync(900_000);
    void ask(governed);
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(2);
  });

  test("no request waits longer than the limit, and no more requests wait than allowed", async () => {
    const { provider } = vendor();
    const limits = { anthropic: { concurrent: 1 } };
    const governed = new Governor({ limits, maxWaiting: 1, maxWaitMs: 5000 }).govern(provider);
    void ask(governed);
    const waits = catchProviderError(ask(governed));
    const refused = await catchProviderError(ask(governed));
    expect(refused.message).toContain("1 requests to anthropic are waiting on this worker");
    await vi.advanceTimersByTimeAsync(5000);
    expect(await waits).toMatchObject({ fault: "rate-limited", retryAfterMs: 1000 });
    expect((await waits).message).toContain("has waited for its turn for 5 s");
  });
});

test("many requests to a vendor that reports its limits are not rejected: they wait for its reset", async () => {
  // Longer than a request may take from here to the server, which counts it when it arrives.
  const WINDOW_MS = 1500;
  const MAX = 12;
  const message = [
    { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  ];
  const statuses: number[] = [];
  let window = { endsAt: 0, left: MAX };
  const server = await LoopbackServer.start((response) => {
    const now = performance.now();
    if (now >= window.endsAt) window = { endsAt: now + WINDOW_MS, left: MAX };
    window.left -= 1;
    const status = window.left < 0 ? 429 : 200;
    statuses.push(status);
    response.writeHead(status, {
      "content-type": "text/event-stream",
      "x-ratelimit-remaining-requests": `${Math.max(0, window.left)}`,
      "x-ratelimit-reset-requests": `${Math.ceil(window.endsAt - now)}ms`,
    });
    response.end(status === 200 ? encodeSse(message) : "{}");
  });
  const pool = createHttp();
  try {
    const asIt = new AnthropicMessages({ http: pool });
    const [governed, counted] = [new Governor().govern(asIt), anthropic("claude-x", { baseUrl: server.url })];
    const go = () => governed.stream(createRequest(counted), { signal: new AbortController().signal });
    await go();
    await Promise.all(Array.from({ length: 24 }, go));
    expect(statuses).toEqual(Array.from({ length: 25 }, () => 200));
  } finally {
    await pool.close();
    await server.stop();
  }
});
