import { afterEach, describe, expect, test } from "vitest";
import { anthropic } from "../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { createHttpError, createStreamError } from "../../src/models/provider-error-from-response.ts";
import { parseDurationMs } from "../../src/models/rate-limits/parse-time.ts";
import type { RateLimits } from "../../src/models/rate-limits/rate-limits.ts";
import { readRateLimits } from "../../src/models/rate-limits/read-rate-limits.ts";
import { createHttp, createRequest, encodeSse, plainVendor } from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

const NOW = Date.parse("2026-11-22T10:00:00Z");

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

describe("rate limit headers", () => {
  test("of Anthropic have times by its own clock", () => {
    const headers = {
      date: "Sun, 22 Nov 2026 09:59:00 GMT",
      "anthropic-ratelimit-requests-limit": "1000",
      "anthropic-ratelimit-requests-remaining": "999",
      "anthropic-ratelimit-requests-reset": "2026-11-22T09:59:07Z",
      "anthropic-ratelimit-input-tokens-limit": "400000",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-11-22T09:59:30Z",
    };
    expect(readRateLimits(headers, NOW)).toEqual([
      { name: "requests", unit: "requests", limit: 1000, remaining: 999, resetAtMs: NOW + 7000 },
      { name: "input-tokens", unit: "inputTokens", limit: 400_000, remaining: 0, resetAtMs: NOW + 30_000 },
    ]);
  });

  test("of OpenAI and Groq have durations", () => {
    const headers = {
      "x-ratelimit-limit-requests": "14400",
      "x-ratelimit-remaining-requests": "14370",
      "x-ratelimit-reset-requests": "2m59.56s",
      "x-ratelimit-remaining-tokens": "17997",
      "x-ratelimit-reset-tokens": "20ms",
    };
    expect(readRateLimits(headers, NOW)).toEqual([
      { name: "requests", unit: "requests", limit: 14_400, remaining: 14_370, resetAtMs: NOW + 179_560 },
      { name: "tokens", unit: "tokens", remaining: 17_997, resetAtMs: NOW + 20 },
    ]);
  });

  test("of Cerebras and Mistral have several limits of one kind, in seconds", () => {
    const headers = {
      "x-ratelimit-remaining-requests-day": "0",
      "x-ratelimit-reset-requests-day": "33011.382867",
      "x-ratelimit-remaining-tokens-minute": "60000",
      "x-ratelimit-remaining-req-minute": "3",
    };
    expect(readRateLimits(headers, NOW)).toEqual([
      { name: "requests-day", unit: "requests", remaining: 0, resetAtMs: NOW + 33_011_383 },
      { name: "tokens-minute", unit: "tokens", remaining: 60_000 },
      { name: "req-minute", unit: "requests", remaining: 3 },
    ]);
  });

  test.each([
    ["milliseconds since 1970 (OpenRouter)", `${NOW + 5000}`],
    ["seconds since 1970", `${NOW / 1000 + 5}`],
    ["seconds from now", "5"],
    ["a date", "Sun, 22 Nov 2026 10:00:05 GMT"],
  ])("without the name of what is counted are of requests: %s", (_, reset) => {
    const headers = {
      "x-ratelimit-limit": "20",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": reset,
    };
    expect(readRateLimits(headers, NOW)).toEqual([
      { name: "requests", unit: "requests", limit: 20, remaining: 0, resetAtMs: NOW + 5000 },
    ]);
  });

  test.each([
    [{ "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "50", "ratelimit-reset": "30" }],
    [{ ratelimit: "limit=100, remaining=50, reset=30" }],
    [{ ratelimit: '"requests";r=50;t=30', "ratelimit-policy": '"requests";q=100;w=60' }],
  ])("of the IETF's drafts are read: %j", (headers) => {
    expect(readRateLimits(headers, NOW)).toEqual([
      { name: "requests", unit: "requests", limit: 100, remaining: 50, resetAtMs: NOW + 30_000 },
    ]);
  });

  test.each([
    [{}],
    [{ "x-ratelimit-remaining-requests": "plenty", "x-ratelimit-reset-requests": "soon" }],
    [{ "x-ratelimit-remaining-requests": "", "anthropic-ratelimit-": "1", ratelimit: "what;" }],
    [{ "retry-after": "5", "x-ratelimitbysize-remaining-minute": "7" }],
  ])("that are empty or unknown give no limits: %j", (headers) => {
    expect(readRateLimits(headers, NOW)).toEqual([]);
  });

  test("are reported for every answer, a success or a rejection", async () => {
    const message = [
      { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ];
    let left = 1;
    const server = await LoopbackServer.start((response) => {
      const headers = { "anthropic-ratelimit-requests-remaining": `${left}` };
      if (left > 0) {
        response.writeHead(200, { ...headers, "content-type": "text/event-stream" }).end(encodeSse(message));
      } else response.writeHead(429, headers).end('{"error":{"type":"rate_limit_error","message":"slow"}}');
      left -= 1;
    });
    const pool = createHttp();
    cleanup.push(
      () => server.stop(),
      () => pool.close(),
    );
    const told: RateLimits[] = [];
    const ask = () =>
      new AnthropicMessages({ http: pool }).stream(
        createRequest(anthropic("claude-x", { baseUrl: server.url })),
        {
          signal: new AbortController().signal,
          onRateLimits: (limits) => told.push(limits),
        },
      );
    await ask();
    await ask().catch(() => undefined);
    expect(told.flat().map(({ remaining }) => remaining)).toEqual([1, 0]);
  });
});

test.each([
  ["1d2h3m4.5s", 93_784_500],
  ["6m0s", 360_000],
  ["0s", 0],
  ["34.4s", 34_400],
  ["5", undefined],
  ["s", undefined],
  ["1h later", undefined],
])("a duration of %s has %s ms", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

describe("a rejection without the header states its delay in its body [RTY-04]", () => {
  const RETRY_INFO = {
    error: {
      code: 429,
      message: "Resource has been exhausted",
      details: [
        { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
      ],
    },
  };
  const words = (message: string) => ({ error: { type: "rate_limit_exceeded", message } });
  const refused = (body: object, headers = {}, status = 429) =>
    createHttpError(plainVendor, {
      status,
      headers,
      body: JSON.stringify(body),
      isBodyIncomplete: false,
      now: NOW,
    });

  test.each([
    [RETRY_INFO, 34_400],
    [words("Rate limit reached for gpt-6. Please try again in 6.27s. Visit …"), 6270],
    [words("Please try again in 120ms."), 120],
    [words("Please try again in 1m26.4s."), 86_400],
    [words("Please retry after 26 seconds."), 26_000],
    [words("Please try again in 3 minutes."), 180_000],
    [words("Please try again later."), undefined],
  ])("%j", (body, ms) => {
    expect(refused(body).retryAfterMs).toBe(ms);
    expect(
      createStreamError(plainVendor, { error: { ...body.error, type: "rate_limit_error" } }).retryAfterMs,
    ).toBe(ms);
  });

  test("but the header has priority, and other faults have no delay", () => {
    expect(refused(RETRY_INFO, { "retry-after": "2" }).retryAfterMs).toBe(2000);
    expect(refused(words("Please try again in 5s"), {}, 400).retryAfterMs).toBeUndefined();
  });
});
