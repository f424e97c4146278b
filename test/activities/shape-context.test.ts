import { CancelledFailure } from "@temporalio/activity";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shapeContext } from "../../src/activities/model/shape-context.ts";
import { ApplicationError } from "../../src/activities/step/failure.ts";
import type { ContextConverter, ContextTransform } from "../../src/hooks/context-functions.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import type { AgentMessage, Message } from "../../src/schema/message.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });
const note: AgentMessage = { role: "extension", kind: "note", data: { text: "kept" }, timestamp: 0 };
const FACTS = { session: "s", loopId: "s.test.1", turn: 3, agent: "tester", model: "m" };

function shape(
  functions: Record<string, ContextTransform>,
  convert?: ContextConverter,
  signal = new AbortController().signal,
) {
  const registered = {
    transforms: new NamedRegistry("context transform", functions),
    converters: new NamedRegistry("context converter", convert === undefined ? {} : { convert }),
  };
  const transformContext = Object.keys(functions);
  const definition = { transformContext, convertToLlm: convert === undefined ? null : "convert" };
  return shapeContext([user("a"), note], definition, FACTS, registered, signal);
}

describe("a context is shaped by the functions that an application has registered", () => {
  test("transforms run in the definition's order, then the conversion [CB-10, LOOP-22]", async () => {
    const sent = await shape(
      {
        first: (messages, { turn }) => [user(`turn ${turn}`), ...messages],
        second: async (messages) => [...messages, user("last")],
      },
      (messages) =>
        messages.map((message) =>
          message.role === "extension" ? user(JSON.stringify(message.data)) : message,
        ),
    );
    expect(sent).toEqual([user("turn 3"), user("a"), user('{"text":"kept"}'), user("last")]);
  });

  test("without a converter an application's own messages are dropped [LOOP-22]", async () => {
    expect(await shape({ same: (messages) => messages })).toEqual([user("a")]);
  });
});

describe("a function that breaks its contract is named with the reason", () => {
  test("when it throws, without text that looks like a key [CB-10]", async () => {
    const broken = () => {
      throw new Error("no index at sk-aaaabbbbccccddddeeeeffff");
    };
    await expect(shape({ broken })).rejects.toThrow(
      new ApplicationError("context", 'The context transform "broken" failed: no index at ***'),
    );
  });

  test("when it returns something other than messages [CB-10]", async () => {
    const odd = (() => [{ role: "user", content: "words" }]) as unknown as ContextTransform;
    await expect(shape({ odd })).rejects.toThrow(/"odd" did not return a list of messages \(at 0\.content\)/);
    await expect(shape({ none: () => [] })).rejects.toThrow(/"none" did not return a list of messages/);
    await expect(shape({ onlyOwn: () => [note] })).rejects.toThrow(/left no message/);
  });

  test("when a converter leaves in a message that no model can read [LOOP-22]", async () => {
    const lazy = ((messages) => messages) as ContextConverter;
    await expect(shape({}, lazy)).rejects.toThrow(
      /converter "convert" did not return a list of messages \(at 1\.role\)/,
    );
  });

  test("when it separates a call from its result [CB-10]", async () => {
    const torn: ContextTransform = (messages) => [
      ...messages,
      { role: "toolResult", toolCallId: "c1", toolName: "x", content: [], isError: false, timestamp: 0 },
    ];
    await expect(shape({ torn })).rejects.toThrow(/"torn" separated a call from its result.*c1/);
  });

  test("when the worker has no such function [TMP-10]", async () => {
    const registered = {
      transforms: new NamedRegistry<ContextTransform>("context transform", { known: (messages) => messages }),
      converters: new NamedRegistry<ContextConverter>("context converter"),
    };
    const definition = { transformContext: ["knwon"], convertToLlm: null };
    const { signal } = new AbortController();
    await expect(shapeContext([user("a")], definition, FACTS, registered, signal)).rejects.toThrow(
      'This worker has no context transform "knwon"; it has known; did you mean "known"?',
    );
  });
});

describe("time", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a function that hangs is abandoned after ten seconds, and its signal is aborted [CB-10]", async () => {
    let given: AbortSignal | undefined;
    const shaping = shape({
      hangs: (_messages, _facts, signal) => {
        given = signal;
        return new Promise(() => undefined);
      },
    });
    const failing = expect(shaping).rejects.toThrow('"hangs" failed: No answer within 10 s');
    await vi.advanceTimersByTimeAsync(10_000);
    await failing;
    expect(given?.aborted).toBe(true);
  });

  test("a function that is interrupted, for example by a stop, has not failed [CB-10]", async () => {
    const interrupt = new AbortController();
    const shaping = shape({ hangs: () => new Promise(() => undefined) }, undefined, interrupt.signal);
    interrupt.abort();
    await expect(shaping).rejects.toThrow(CancelledFailure);
  });
});
