import { expect, test } from "vitest";
import { AnswerProgress } from "../../src/models/answer-progress.ts";

const event = (data: string) => ({ event: undefined, data });
const words = [{ type: "text" as const, index: 0, delta: "so" }];

test("text is progress, and so is each type of event without text, once", () => {
  const progress = new AnswerProgress(100, 0);
  progress.record(event('{"type":"search","n":1}'), [], 90);
  expect(progress.hasStalled(190)).toBe(false);
  progress.record(event('{"type":"search","n":2}'), [], 180);
  expect(progress.hasStalled(191)).toBe(true);
  progress.record(event("{}"), words, 300);
  progress.record(event('{"type":"search","n":3}'), [], 390);
  expect(progress.hasStalled(490)).toBe(false);
});

test("empty chunks are not progress, and neither is noise that differs each time, after a while", () => {
  const progress = new AnswerProgress(100, 0);
  const empty = [{ type: "text" as const, index: 0, delta: "" }];
  for (let at = 0; at <= 200; at += 10) progress.record(event('{"delta":""}'), empty, at);
  expect(progress.hasStalled(200)).toBe(true);
  const noisy = new AnswerProgress(100, 0);
  for (let at = 0; at < 1000; at += 1) noisy.record(event(`{"pad":"${"x".repeat(at % 500)}"}`), [], at);
  expect(noisy.hasStalled(1000)).toBe(true);
});
