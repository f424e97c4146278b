import { CancelledFailure } from "@temporalio/activity";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { filterMessages } from "../../src/activities/filter-input/filter-input.ts";
import { admitPrompts } from "../../src/activities/open-loop/admit-prompts.ts";
import { filterPrompts } from "../../src/activities/open-loop/filter-prompts.ts";
import { ApplicationError } from "../../src/activities/step/failure.ts";
import { local } from "../../src/config/vendor-models.ts";
import { FilterRegistry, type InputFilter } from "../../src/hooks/filters.ts";
import { createLogger } from "../../src/platform/log.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { NewMessage } from "../../src/store/transcript/session.ts";

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

function filter(
  filter: InputFilter,
  prompts: readonly NewMessage[],
  signal = new AbortController().signal,
  inbox: readonly NewMessage[] = [],
) {
  const filters = new FilterRegistry().register("one", filter);
  const never = () => Promise.reject(new Error("A text needs no parts"));
  const readers = { transcript: { readParts: never }, conversations: { loadData: never } };
  const dependencies = { filters, log: createLogger("silent"), ...readers };
  return filterPrompts(["one"], prompts, async () => inbox, dependencies, signal);
}

test("a filter that does not answer within ten seconds rejects [FILT-01.2]", async () => {
  const done = vi.fn();
  const filtering = filter(() => new Promise(() => undefined), [message("Hello", "prompt")]).finally(done);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(done).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await filtering).toMatchObject({
    rejected: 'Input filter "one" failed: No answer within 10 s',
  });
});

test("a filter that is interrupted, for example by a worker's shutdown, has rejected nothing", async () => {
  const interrupt = new AbortController();
  const filtering = filter(
    () => new Promise(() => undefined),
    [message("Hello", "prompt")],
    interrupt.signal,
  );
  interrupt.abort();
  await expect(filtering).rejects.toThrow(CancelledFailure);
});

test("filters that are slow for each of many messages share one time limit, and the rejection states it [FILT-01.2]", async () => {
  const done = vi.fn();
  const slow: InputFilter = () =>
    new Promise((resolve) => setTimeout(() => resolve({ type: "pass" }), 9_000));
  const inbox = Array.from({ length: 40 }, (_, at) => message(`m${at}`, "inbox"));
  const registry = new FilterRegistry().register("one", slow);
  const dependencies = { filters: registry, log: createLogger("silent") };
  const { signal } = new AbortController();
  const definition = AgentDefinition.parse({
    model: local("http://127.0.0.1:1", "m"),
    inputFilters: ["one"],
  });
  const asking = { definition, signal, dependencies: dependencies as never };
  const step = { session: "s", run: "r", number: 0 };
  const opening = admitPrompts(step, [], async () => inbox, undefined, asking).finally(done);
  const failure = opening.catch((error: unknown) => error);
  const beforeTurn = filterMessages(inbox, ["one"], dependencies, signal).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(239_999);
  expect(done).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  for (const error of [await failure, await beforeTurn]) {
    expect(error).toBeInstanceOf(ApplicationError);
    expect(error).toMatchObject({
      fault: "filters",
      message: expect.stringContaining("(one) did not finish within 240 s"),
    });
  }
});

test("filters see the prompts joined, and the last prompt receives the warning [FILT-02.1, FILT-04.1]", async () => {
  const seen: string[] = [];
  const { prompts } = await filter(
    (text) => {
      seen.push(text);
      return text.startsWith("a") ? { type: "warn", warning: "hm" } : { type: "pass" };
    },
    [message("s", "steering"), message("a", "prompt"), message("b", "prompt")],
  );
  expect(seen).toEqual(["a\nb", "s"]);
  expect(prompts.map(({ text, warning }) => [text, warning])).toEqual([
    ["s", undefined],
    ["a", undefined],
    ["b", "[Warning: hm]"],
  ]);
});

test("queued messages are filtered one by one, the inbox first, and each receives its own warning [PHI-08.1-2]", async () => {
  const seen: string[] = [];
  const { prompts, inbox } = await filter(
    (text) => {
      seen.push(text);
      return text === "p" ? { type: "pass" } : { type: "warn", warning: text };
    },
    [message("s", "steering"), message("f", "follow-up"), message("p", "prompt")],
    undefined,
    [message("i", "inbox")],
  );
  expect(seen).toEqual(["p", "i", "s", "f"]);
  expect(inbox).toMatchObject([{ text: "i", warning: "[Warning: i]" }]);
  expect(prompts.map(({ text, warning }) => [text, warning])).toEqual([
    ["s", "[Warning: s]"],
    ["f", "[Warning: f]"],
    ["p", undefined],
  ]);
});

test("a rejected message is named, and the messages after it are not filtered [PHI-08.3]", async () => {
  const seen: string[] = [];
  const prompts = [message("s", "steering"), message("f", "follow-up")];
  const rejects: InputFilter = (text) => {
    seen.push(text);
    return { type: "reject", reason: "no" };
  };
  expect(await filter(rejects, prompts)).toEqual({ prompts, rejected: "no", rejectedMessages: [prompts[0]] });
  expect(seen).toEqual(["s"]);
});

test("a rejected prompt leaves the queued messages unfiltered [FILT-03.1]", async () => {
  const prompts = [message("s", "steering"), message("p", "prompt")];
  const rejects: InputFilter = (text) => (text === "p" ? { type: "reject", reason: "no" } : { type: "pass" });
  expect(await filter(rejects, prompts)).toEqual({ prompts, rejected: "no" });
});
