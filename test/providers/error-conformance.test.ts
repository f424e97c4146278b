import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { anthropic, local } from "../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import type { ProviderFault } from "../../src/models/provider-error.ts";
import { errorReplies, hasMoreRecordings, NO_MORE_RECORDINGS } from "../support/recordings.ts";
import { testIf } from "../support/skipping.ts";
import { catchProviderError, createHttp, createRequest } from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

const pool = createHttp();
afterAll(async () => await pool.close());
const signal = new AbortController().signal;

type SdkError = {
  readonly status: number | undefined;
  readonly requestID?: string | null | undefined;
  readonly error: unknown;
};

/** The error classes of the SDKs, as our faults. */
function faultOfSdk(error: unknown): ProviderFault {
  for (const sdk of [Anthropic, OpenAI]) {
    if (error instanceof sdk.RateLimitError) return "rate-limited";
    if (error instanceof sdk.AuthenticationError || error instanceof sdk.PermissionDeniedError) return "auth";
    if (error instanceof sdk.APIConnectionError) return "network";
    if (error instanceof sdk.APIError) return "api";
  }
  throw error;
}

async function both(url: string, ofAnthropic: boolean) {
  const messages = [{ role: "user" as const, content: "x" }];
  if (ofAnthropic) {
    const client = new Anthropic({ apiKey: "k", maxRetries: 0, baseURL: url });
    const theirs = await client.messages.create({ model: "m", max_tokens: 1, messages, stream: true }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const request = createRequest(anthropic("m", { baseUrl: url }));
    return {
      theirs,
      ours: await catchProviderError(new AnthropicMessages({ http: pool }).stream(request, { signal })),
    };
  }
  const client = new OpenAI({ apiKey: "k", maxRetries: 0, baseURL: `${url}/v1` });
  const theirs = await client.chat.completions.create({ model: "m", messages, stream: true }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const request = createRequest(local(url, "m"));
  return {
    theirs,
    ours: await catchProviderError(new OpenAiCompletions({ http: pool }).stream(request, { signal })),
  };
}

/** The message for users, wherever a vendor puts it. */
function sentenceIn(body: string): string {
  const parsed = JSON.parse(body);
  return parsed.error?.message ?? parsed.message ?? parsed.detail;
}

describe("recorded errors", () => {
  testIf(hasMoreRecordings, NO_MORE_RECORDINGS)("there are many", () =>
    expect(errorReplies.length).toBeGreaterThanOrEqual(16),
  );

  test.each(errorReplies)(
    "$file ($host, $status): the same kind of error as the SDK's",
    async ({ host, bytes, status, ct }) => {
      const body = bytes.toString("utf8");
      const server = await LoopbackServer.start((response) =>
        response.writeHead(status, { "content-type": ct }).end(body),
      );
      const { theirs, ours } = await both(server.url, host === "api.anthropic.com");
      await server.stop();
      expect(ours.status).toBe((theirs as SdkError).status);
      expect(ours.fault).toBe(faultOfSdk(theirs));
      expect(ours.message).toContain(sentenceIn(body).slice(0, 400).replace(/\s+/g, " "));
      expect(ours.requestId).toBe(JSON.parse(body).request_id);
    },
  );
});

const STATUSES: readonly [number, ProviderFault][] = [
  [400, "api"],
  [401, "auth"],
  [403, "auth"],
  [404, "api"],
  [409, "api"],
  [413, "api"],
  [422, "api"],
  [429, "rate-limited"],
  [500, "api"],
  [503, "api"],
];

test.each(STATUSES)("status %d is %s for us and for both SDKs", async (status, fault) => {
  const body = JSON.stringify({ error: { type: "some_error", message: "something" } });
  const headers = { "content-type": "application/json", "request-id": "req_1", "x-request-id": "req_1" };
  const server = await LoopbackServer.start((response) => response.writeHead(status, headers).end(body));
  for (const ofAnthropic of [true, false]) {
    const { theirs, ours } = await both(server.url, ofAnthropic);
    expect(ours.fault).toBe(fault);
    expect(faultOfSdk(theirs)).toBe(fault);
    expect(ours.requestId).toBe((theirs as SdkError).requestID);
  }
  await server.stop();
});
