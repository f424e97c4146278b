import { describe, expect, test } from "vitest";
import type { Fault } from "../../src/testing/model-server/fault.ts";
import {
  catchFailure,
  createAnthropic,
  createAnthropicRequest,
  createOpenAi,
  createOpenAiRequest,
  startServer,
  streamOpenAi,
} from "./vendor-clients.ts";

const LONG = {
  text: "Grüße aus der Mitte eines langen Satzes, der ünterbröchen wird 😀".repeat(3),
  chunkSize: 6,
};

async function anthropicFailure(fault: Fault, timeoutMs?: number) {
  const server = await startServer({ faults: [fault], replies: [LONG] });
  let text = "";
  const stream = createAnthropic(server, timeoutMs).messages.stream(createAnthropicRequest());
  const error = await catchFailure(stream.on("text", (piece) => (text += piece)).finalMessage());
  return { server, error, text };
}

async function openaiFailure(fault: Fault) {
  const server = await startServer({ faults: [fault], replies: [LONG] });
  return { server, error: await catchFailure(streamOpenAi(server).finalChatCompletion()) };
}

describe("HTTP errors, as the SDKs report them", () => {
  test("429 with the delay that the vendor requests", async () => {
    const claude = await anthropicFailure({ fault: "rate-limited", retryAfterSeconds: 7 });
    expect(claude.error).toMatchObject({ status: 429, type: "rate_limit_error" });
    expect((claude.error["headers"] as Headers).get("retry-after")).toBe("7");
    expect(claude.error["requestID"]).toMatch(/^req_011C/);

    const gpt = await openaiFailure({ fault: "rate-limited", retryAfterMs: 1500, message: "slow down" });
    expect(gpt.error).toMatchObject({ status: 429, code: "rate_limit_exceeded", message: "429 slow down" });
    const headers = gpt.error["headers"] as Headers;
    expect([headers.get("retry-after-ms"), headers.get("retry-after")]).toEqual(["1500", "2"]);
    expect(gpt.error["requestID"]).toMatch(/^req_/);
  });

  const cases: [Fault, object, object][] = [
    [{ fault: "server-error" }, { status: 500, type: "api_error" }, { status: 500, type: "server_error" }],
    [{ fault: "server-error", status: 502 }, { status: 502 }, { status: 502 }],
    [{ fault: "overloaded" }, { status: 529, type: "overloaded_error" }, { status: 503 }],
    [
      { fault: "overflow" },
      { status: 400, message: expect.stringContaining("prompt is too long") },
      {
        status: 400,
        code: "context_length_exceeded",
        message: expect.stringContaining("maximum context length"),
      },
    ],
    [
      { fault: "auth" },
      { status: 401, type: "authentication_error" },
      { status: 401, code: "invalid_api_key" },
    ],
    [
      { fault: "html" },
      { status: 502, message: expect.stringContaining("<h1>502 Bad Gateway") },
      { status: 502 },
    ],
    [
      { fault: "http", status: 418, body: '{"error":{"message":"tea"}}' },
      { status: 418 },
      { message: "418 tea" },
    ],
  ];
  test.each(cases)("%j", async (fault, ofAnthropic, ofOpenai) => {
    const { error, server } = await anthropicFailure(fault);
    expect(error).toMatchObject(ofAnthropic);
    expect(server.requests).toMatchObject([{ outcome: "faulted", fault: fault.fault }]);
    expect((await openaiFailure(fault)).error).toMatchObject(ofOpenai);
  });
});

describe("streams that fail", () => {
  test("a cut: the text until then arrives, then the connection is gone", async () => {
    const { error, text, server } = await anthropicFailure({ fault: "cut", afterChunks: 8 });
    expect(error.message).toMatch(/terminated|Connection error|socket/i);
    expect(LONG.text.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(0);
    expect(server.requests[0]).toMatchObject({ outcome: "faulted", fault: "cut" });
    expect(server.answersPaid()).toBe(0);
    expect((await openaiFailure({ fault: "cut" })).error.message).toMatch(
      /terminated|Connection error|socket/i,
    );
  });

  test("a cut in the middle of a character leaves half of it", async () => {
    const server = await startServer({
      faults: [{ fault: "cut", inCharacter: true, clean: true }],
      replies: [LONG],
    });
    const response = await fetch(`${server.anthropicBaseUrl}/v1/messages`, {
      method: "POST",
      headers: { "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ ...createAnthropicRequest(), stream: true }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.at(-1)).toBeGreaterThanOrEqual(0xc0);
    expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toThrow();
    expect(server.requests[0]?.bytesSent).toBe(bytes.length);
  });

  test("a cut before the head", async () => {
    const { error } = await anthropicFailure({ fault: "cut", afterBytes: 0 });
    expect(error).toMatchObject({ name: "APIConnectionError" });
  });

  test("a body that ends too early without an error", async () => {
    const { error } = await anthropicFailure({ fault: "cut", clean: true, afterChunks: 5 });
    expect(error.message).toMatch(/ended without|without producing/i);
  });

  test("silence until the client disconnects", async () => {
    const { error, server } = await anthropicFailure({ fault: "silence" }, 150);
    expect(error).toMatchObject({ name: "APIConnectionTimeoutError" });
    const request = await server.waitForRequest((one) => one.closedAtMs !== undefined);
    expect(request).toMatchObject({ outcome: "aborted-by-client", fault: "silence", bytesSent: 0 });
  });

  test("silence in the middle of a stream", async () => {
    const server = await startServer({ faults: [{ fault: "silence", afterChunks: 6 }], replies: [LONG] });
    const stream = createAnthropic(server).messages.stream(createAnthropicRequest());
    stream.once("text", () => stream.abort());
    expect(await catchFailure(stream.finalMessage())).toMatchObject({ name: "APIUserAbortError" });
    await server.waitForRequest((one) => one.outcome === "aborted-by-client" && one.bytesSent > 0);
  });

  test("an error event in the middle of the stream", async () => {
    const claude = await anthropicFailure({ fault: "mid-stream-error" });
    expect(claude.error).toMatchObject({ type: "overloaded_error" });
    expect(claude.text.length).toBeGreaterThan(0);
    const gpt = await openaiFailure({ fault: "mid-stream-error", message: "it broke" });
    expect(gpt.error).toMatchObject({ message: "it broke", type: "server_error" });
  });

  test("an event that is not JSON", async () => {
    expect((await anthropicFailure({ fault: "malformed" })).error.message).toMatch(/JSON/);
    expect((await openaiFailure({ fault: "malformed" })).error.message).toMatch(/JSON/);
  });

  test("faults apply to requests without streaming too", async () => {
    const server = await startServer({ faults: [{ fault: "cut" }, { fault: "malformed" }], replies: [LONG] });
    expect(
      await catchFailure(createOpenAi(server).chat.completions.create(createOpenAiRequest())),
    ).toBeInstanceOf(Error);
    expect(
      (await catchFailure(createOpenAi(server).chat.completions.create(createOpenAiRequest()))).message,
    ).toMatch(/JSON/);
  });

  test("an impossible cut is reported", async () => {
    const server = await startServer({
      faults: [{ fault: "cut", inCharacter: true }],
      replies: [{ text: "ascii" }],
    });
    expect(
      await catchFailure(createAnthropic(server).messages.create(createAnthropicRequest())),
    ).toMatchObject({ status: 500 });
    expect(server.requests[0]).toMatchObject({ fault: "script-error", outcome: "faulted" });
  });
});
