import { CancelledFailure } from "@temporalio/activity";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Dependencies } from "../../src/activities/dependencies.ts";
import { filterPrompts } from "../../src/activities/filter-prompts.ts";
import { FilterRegistry, type InputFilter } from "../../src/hooks/filters.ts";
import { createLogger } from "../../src/observability/log.ts";
import type { NewMessage } from "../../src/transcript/transcript.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const message = (text: string, origin: NewMessage["origin"]): NewMessage => ({
  id: text,
  text,
  atMs: 0,
  origin,
});

function filter(filter: InputFilter, prompts: readonly NewMessage[], signal = new AbortController().signal) {
  const filters = new FilterRegistry().register("one", filter);
  return filterPrompts(["one"], prompts, { filters, log: createLogger("silent") } as Dependencies, signal);
}

test("a filter that does not answer within ten seconds rejects [FILT-01, FILT-03]", async () => {
  const done = vi.fn();
  const filtering = filter(() => new Promise(() => undefined), [message("Hello", "prompt")]).finally(done);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(done).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await filtering).toMatchObject({
    rejected: 'Input filter "one" failed: No answer within 10 s',
  });
});

test("a filter that is interrupted, as by a worker that shuts down, has rejected nothing [FILT-03]", async () => {
  const interrupt = new AbortController();
  const filtering = filter(
    () => new Promise(() => undefined),
    [message("Hello", "prompt")],
    interrupt.signal,
  );
  interrupt.abort();
  await expect(filtering).rejects.toThrow(CancelledFailure);
});

test("prompts are seen joined, and the last of them takes the warning [FILT-02, FILT-04]", async () => {
  const seen: string[] = [];
  const { prompts } = await filter(
    (text) => {
      seen.push(text);
      return { type: "warn", warning: "hm" };
    },
    [message("s", "steering"), message("a", "prompt"), message("b", "prompt")],
  );
  expect(seen).toEqual(["a\nb"]);
  expect(prompts.map(({ text }) => text)).toEqual(["s", "a", "b\n\n[Warning: hm]"]);
});

test("words from a queue alone are not looked at [FILT-02]", async () => {
  const prompts = [message("s", "steering"), message("f", "follow-up")];
  expect(await filter(() => ({ type: "reject", reason: "no" }), prompts)).toEqual({ prompts });
});
