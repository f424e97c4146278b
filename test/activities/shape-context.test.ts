import { CancelledFailure } from "@temporalio/activity";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shapeContext } from "../../src/activities/model/shape-context.ts";
import { ApplicationError } from "../../src/activities/step/failure.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import { getTranslation, isTranslated } from "../../src/conversation/context-translation.ts";
import type {
  ContextConverter,
  ContextTransform,
  ContextTranslation,
} from "../../src/hooks/context-functions.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { AgentMessage, Message } from "../../src/schema/message.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });
const note: AgentMessage = { role: "extension", kind: "note", data: { text: "kept" }, timestamp: 0 };
const FACTS = { session: "s", loopId: "s.test.1", turn: 3, agent: "tester", model: "m" };

function shape(
  functions: Record<string, ContextTransform>,
  convert?: ContextConverter,
  signal = new AbortController().signal,
  translate?: ContextTranslation,
) {
  const registered = {
    transforms: new NamedRegistry("context transform", functions),
    converters: new NamedRegistry("context converter", convert === undefined ? {} : { convert }),
    translations: new NamedRegistry("context translation", translate === undefined ? {} : { translate }),
  };
  const transformContext = Object.keys(functions);
  const definition = {
    model: AgentDefinition.parse({ model: anthropic("claude-x") }).model,
    transformContext,
    convertToLlm: convert === undefined ? null : "convert",
    contextTranslation: translate === undefined ? undefined : "translate",
  };
  return shapeContext([user("a"), note], definition, FACTS, registered, signal);
}

describe("a context is shaped by the functions that an application has registered", () => {
  test("transforms run in the definition's order, then the conversion [CB-10.1, LOOP-22.1]", async () => {
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

  test("without a converter an application's own messages are dropped [LOOP-22.2]", async () => {
    expect(await shape({ same: (messages) => messages })).toEqual([user("a")]);
  });
});

describe("a translation by name", () => {
  test("gets the readable messages and the vendor that is called, and its result is sent [XLAT-02]", async () => {
    const seen: unknown[] = [];
    const sent = await shape(
      { first: (messages) => [user("before"), ...messages] },
      undefined,
      new AbortController().signal,
      (messages, target) => {
        seen.push(messages, target);
        return [...messages, user(`for ${target.protocol}`)];
      },
    );
    expect(sent).toEqual([user("before"), user("a"), user("for anthropic_messages")]);
    expect(seen).toEqual([
      [user("before"), user("a")],
      { protocol: "anthropic_messages", provider: "anthropic", model: "claude-x" },
    ]);
  });

  test("that throws, or returns no messages, is named with the reason [XLAT-02]", async () => {
    const { signal } = new AbortController();
    const broken = () => {
      throw new Error("no table");
    };
    await expect(shape({}, undefined, signal, broken)).rejects.toThrow(
      'The context translation "translate" failed: no table',
    );
    await expect(shape({}, undefined, signal, () => [])).rejects.toThrow(
      'The context translation "translate" did not return a list of messages',
    );
  });

  test("is asked for each request by its name alone: the adapters' own and none are no functions [XLAT-02]", () => {
    const names = [undefined, "default", null, "own"].map((contextTranslation) => ({ contextTranslation }));
    expect(names.map(getTranslation)).toEqual([undefined, undefined, undefined, "own"]);
    expect(names.map(isTranslated)).toEqual([false, false, true, true]);
  });
});

describe("a function that breaks its contract is named with the reason", () => {
  test("when it throws, without text that looks like a key [CB-10.3]", async () => {
    const broken = () => {
      throw new Error("no index at sk-aaaabbbbccccddddeeeeffff");
    };
    await expect(shape({ broken })).rejects.toThrow(
      new ApplicationError("context", 'The context transform "broken" failed: no index at ***'),
    );
  });

  test("when it returns something other than messages [CB-10.3]", async () => {
    const odd = (() => [{ role: "user", content: "words" }]) as unknown as ContextTransform;
    await expect(shape({ odd })).rejects.toThrow(/"odd" did not return a list of messages \(at 0\.content\)/);
    await expect(shape({ none: () => [] })).rejects.toThrow(/"none" did not return a list of messages/);
    await expect(shape({ onlyOwn: () => [note] })).rejects.toThrow(/left no message/);
  });

  test("when a converter leaves in a message that no model can read", async () => {
    const lazy = ((messages) => messages) as ContextConverter;
    await expect(shape({}, lazy)).rejects.toThrow(
      /converter "convert" did not return a list of messages \(at 1\.role\)/,
    );
  });

  test("when it separates a call from its result [CB-10.3]", async () => {
    const torn: ContextTransform = (messages) => [
      ...messages,
      { role: "toolResult", toolCallId: "c1", toolName: "x", content: [], isError: false, timestamp: 0 },
    ];
    await expect(shape({ torn })).rejects.toThrow(/"torn" separated a call from its result.*c1/);
  });

  test("when the worker has no such function [TMP-10.2]", async () => {
    const registered = {
      transforms: new NamedRegistry<ContextTransform>("context transform", { known: (messages) => messages }),
      converters: new NamedRegistry<ContextConverter>("context converter"),
      translations: new NamedRegistry<ContextTranslation>("context translation", { own: (all) => all }),
    };
    const { model } = AgentDefinition.parse({ model: anthropic("claude-x") });
    const plain = { model, transformContext: [], convertToLlm: null };
    const { signal } = new AbortController();
    const shaped = (definition: typeof plain & { contextTranslation?: string }) =>
      shapeContext([user("a")], definition, FACTS, registered, signal);
    await expect(shaped({ ...plain, transformContext: ["knwon"] as never })).rejects.toThrow(
      'This worker has no context transform "knwon"; it has known; did you mean "known"?',
    );
    await expect(shaped({ ...plain, contextTranslation: "won" })).rejects.toThrow(
      'This worker has no context translation "won"; it has own; did you mean "own"?',
    );
  });
});

describe("time", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a function that hangs is abandoned after ten seconds, and its signal is aborted [CB-10.3]", async () => {
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

  test("a function that is interrupted, for example by a stop, has not failed", async () => {
    const interrupt = new AbortController();
    const shaping = shape({ hangs: () => new Promise(() => undefined) }, undefined, interrupt.signal);
    interrupt.abort();
    await expect(shaping).rejects.toThrow(CancelledFailure);
  });
});
