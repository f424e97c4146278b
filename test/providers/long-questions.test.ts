import { expect, onTestFinished, test, vi } from "vitest";
import { assertRequestSize, countCharacters } from "../../src/models/assert-request-size.ts";
import { stringifyRequest } from "../../src/models/json.ts";

const said = (text: string) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text }],
  timestamp: 1,
});

test("a request is serialized as by JSON.stringify, with lone surrogates replaced", async () => {
  const body = {
    model: "m",
    none: undefined,
    messages: [said("Grüße 🌍 \\ud800 \u2028"), undefined, { nested: { list: [1, null, "x"] } }],
    stream: true,
    limit: Number.NaN,
  };
  expect(await stringifyRequest(body)).toBe(JSON.stringify(body));
  expect(JSON.parse(await stringifyRequest({ text: ["cut \ud83c"] }))).toEqual({ text: ["cut \ufffd"] });
  expect(await stringifyRequest({})).toBe("{}");
});

test("a request that no vendor accepts is rejected before it is serialized", () => {
  const long = "x".repeat(1000);
  expect(countCharacters([said(long)])).toBeGreaterThan(1000);
  expect(() => assertRequestSize([said(long)], 2000)).not.toThrow();
  expect(() => assertRequestSize([said(long), said(long)], 2000)).toThrow(
    expect.objectContaining({
      fault: "overflow",
      message: expect.stringContaining("the request was not sent: it has"),
    }),
  );
});

test("a long conversation is serialized without delaying the heartbeat: other work has its turn every fifty milliseconds", async () => {
  const messages = Array.from({ length: 60 }, (_, at) => said(String(at)));
  // A clock by which each message takes longer than that.
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    nowMs += 60;
    return nowMs;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const text = await stringifyRequest({ messages });
  isOver = true;
  expect(text).toBe(JSON.stringify({ messages }));
  expect(turns).toBeGreaterThanOrEqual(messages.length);
});
