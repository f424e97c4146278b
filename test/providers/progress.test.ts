import { expect, test } from "vitest";
import { Progress } from "../../src/models/progress.ts";

const event = (data: string) => ({ event: undefined, data });
const words = [{ type: "text" as const, index: 0, delta: "so" }];

test("words lead on, and so does each kind of event without words, once", () => {
  const progress = new Progress(100, 0);
  progress.heard(event('{"type":"search","n":1}'), [], 90);
  expect(progress.isOver(190)).toBe(false);
  progress.heard(event('{"type":"search","n":2}'), [], 180);
  expect(progress.isOver(191)).toBe(true);
  progress.heard(event("{}"), words, 300);
  progress.heard(event('{"type":"search","n":3}'), [], 390);
  expect(progress.isOver(490)).toBe(false);
});

test("pieces without a letter do not lead on, and noise that is new each time does not for ever", () => {
  const progress = new Progress(100, 0);
  const empty = [{ type: "text" as const, index: 0, delta: "" }];
  for (let at = 0; at <= 200; at += 10) progress.heard(event('{"delta":""}'), empty, at);
  expect(progress.isOver(200)).toBe(true);
  const noisy = new Progress(100, 0);
  for (let at = 0; at < 1000; at += 1) noisy.heard(event(`{"pad":"${"x".repeat(at % 500)}"}`), [], at);
  expect(noisy.isOver(1000)).toBe(true);
});
