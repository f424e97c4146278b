import { expect, test } from "vitest";
import {
  catchFailure,
  createAnthropic,
  createAnthropicRequest,
  startServer,
  streamOpenAi,
} from "./vendor-clients.ts";

const LONG = { text: "one two three four five six seven eight", chunkSize: 4, holdUntil: "gate" };

test("an answer waits in the middle until it is released", async () => {
  const server = await startServer({ replies: [LONG] });
  let text = "";
  const stream = createAnthropic(server).messages.stream(createAnthropicRequest());
  stream.on("text", (piece) => (text += piece));
  await server.waitForHold("gate");
  await new Promise((resolve) => stream.once("text", resolve));
  expect(LONG.text.startsWith(text) && text !== LONG.text).toBe(true);
  expect(server.requests[0]).toMatchObject({ outcome: "open", waitingGate: "gate" });
  server.release("gate");
  await stream.finalMessage();
  expect(text).toBe(LONG.text);
  expect(server.requests[0]).toMatchObject({ outcome: "answered", waitingGate: undefined });
});

test("a released gate stays open until it is closed again", async () => {
  const server = await startServer({ replies: [LONG] });
  server.release("gate");
  await streamOpenAi(server).finalChatCompletion();
  server.hold("gate");
  const waiting = streamOpenAi(server).finalChatCompletion();
  await server.waitForHold("gate");
  server.release("gate");
  await waiting;
  expect(server.answersPaid()).toBe(2);
});

test("a client that disconnects is noticed at once, and its answer is not counted as paid", async () => {
  const server = await startServer({ replies: [LONG] });
  const stream = createAnthropic(server).messages.stream(createAnthropicRequest());
  const failed = catchFailure(stream.finalMessage());
  await server.waitForHold("gate");
  stream.abort();
  await failed;
  const request = await server.waitForRequest((one) => one.outcome === "aborted-by-client", {
    timeoutMs: 2_000,
  });
  expect(request).toMatchObject({ waitingGate: undefined, closedAtMs: expect.any(Number) });
  server.release("gate");
  await createAnthropic(server).messages.stream(createAnthropicRequest()).finalMessage();
  expect(server.paid()).toMatchObject([{ turn: 0, asked: 2, answered: 1, aborted: 1, faulted: 0 }]);
  expect(server.answersRepaid()).toBe(0);
  expect(server.requests[0]!.bytesSent).toBeLessThan(server.requests[1]!.bytesSent);
});

test.each(["head", "start", "end"] as const)("an answer waits at its %s", async (holdAt) => {
  const server = await startServer({ replies: [{ ...LONG, holdAt }] });
  const answer = streamOpenAi(server).finalChatCompletion();
  const request = await server.waitForHold("gate");
  expect(request.bytesSent === 0).toBe(holdAt === "head");
  server.release("gate");
  expect((await answer).choices[0]?.message.content).toBe(LONG.text);
});

test("delays: the headers wait, then the stream takes its time", async () => {
  const reply = { text: "abcdefgh", chunkSize: 1, chunkDelayMs: 5, firstByteDelayMs: 30 };
  const server = await startServer({ replies: [reply] });
  await streamOpenAi(server).finalChatCompletion();
  const { atMs, closedAtMs } = server.requests[0]!;
  // 12 events, 11 pauses; timers may be early by a millisecond.
  expect(closedAtMs! - atMs).toBeGreaterThanOrEqual(29 + 11 * 4);
});

test("a wait for a request that never arrives reports the requests that did", async () => {
  const server = await startServer({});
  await createAnthropic(server).messages.create(createAnthropicRequest());
  await expect(server.waitForRequest(2, { timeoutMs: 10 })).rejects.toThrow(/#1 turn 0 answered/);
  await server.waitForRequest(1);
});

test("a stopped server ends open requests", async () => {
  const server = await startServer({ replies: [LONG] });
  const failed = catchFailure(
    createAnthropic(server).messages.stream(createAnthropicRequest()).finalMessage(),
  );
  await server.waitForHold("gate");
  await server.stop();
  expect(await failed).toBeInstanceOf(Error);
  await server.waitForRequest((one) => one.closedAtMs !== undefined && one.outcome === "open");
});
