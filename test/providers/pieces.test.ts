import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { parseModel } from "../../src/config/parse-model.ts";
import {
  anthropic,
  azure,
  bedrock,
  local,
  ModelError,
  openai,
  openaiResponses,
  openrouter,
} from "../../src/config/vendor-models.ts";
import { AnthropicAssembler } from "../../src/models/anthropic-messages/anthropic-assembler.ts";
import { buildAzureUrl } from "../../src/models/azure-openai-responses/build-azure-url.ts";
import { buildEndpoint } from "../../src/models/build-endpoint.ts";
import { stringifyRequest } from "../../src/models/json.ts";
import { CompletionsAssembler } from "../../src/models/openai-completions/completions-assembler.ts";
import { buildCompletionsRequest } from "../../src/models/openai-completions/request.ts";
import { toUsage } from "../../src/models/openai-completions/usage.ts";
import type { Provider } from "../../src/models/provider.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { createMask } from "../../src/models/secret-masks.ts";
import { SseReader } from "../../src/models/sse-reader.ts";
import { isOverflow, isOverflowText, OVERFLOW_PHRASES } from "../../src/platform/text/overflow.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";
import { createRequest, encodeSse, joinDeltas, readAnswer } from "./answer-reader.ts";
import { sliceBytes } from "./slices.ts";

describe("tool calls, as servers label them", () => {
  const answer = (...deltas: object[]) => {
    const chunks = deltas.map((delta) => ({ id: "c", choices: [{ index: 0, delta, finish_reason: null }] }));
    const end = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    return readAnswer((context) => new CompletionsAssembler(context), [encodeSse([...chunks, end], false)])
      .message;
  };
  const found = (...deltas: object[]) =>
    answer(...deltas).content.map((part) =>
      part.type === "toolCall" ? [part.id, part.name, part.arguments] : part,
    );
  const piece = (fields: object, name: string | undefined, args: unknown) => ({
    tool_calls: [{ ...fields, function: { ...(name !== undefined && { name }), arguments: args } }],
  });
  const A = ["a", "read", { n: 1 }];
  const B = ["b", "read", { n: 2 }];

  test("by index, interleaved", () => {
    expect(
      found(
        piece({ index: 0, id: "a" }, "read", ""),
        piece({ index: 1, id: "b" }, "read", '{"n"'),
        piece({ index: 0 }, undefined, '{"n":1'),
        piece({ index: 1 }, undefined, ":2}"),
        piece({ index: 0 }, undefined, "}"),
      ),
    ).toEqual([A, B]);
  });

  test("whole, several in one delta, without an index", () => {
    const whole = (id: string, n: number) => ({ id, function: { name: "read", arguments: `{"n":${n}}` } });
    expect(found({ tool_calls: [whole("a", 1), whole("b", 2)] })).toEqual([A, B]);
  });

  test("whole, each with index 0", () => {
    expect(
      found(piece({ index: 0, id: "a" }, "read", '{"n":1}'), piece({ index: 0, id: "b" }, "read", '{"n":2}')),
    ).toEqual([A, B]);
  });

  test("in chunks, each with index 0: a chunk without an id continues the last call", () => {
    expect(
      found(
        piece({ index: 0, id: "a" }, "read", '{"n":1}'),
        piece({ index: 0, id: "b" }, "read", '{"n"'),
        piece({ index: 0 }, undefined, ":2}"),
      ),
    ).toEqual([A, B]);
  });

  test("without arguments, each with index 0", () => {
    expect(found(piece({ index: 0, id: "a" }, "x", ""), piece({ index: 0, id: "b" }, "y", ""))).toEqual([
      ["a", "x", {}],
      ["b", "y", {}],
    ]);
  });

  test("the id and the name repeated in each chunk", () => {
    const more = (args: string) => piece({ index: 0, id: "a" }, "read", args);
    expect(found(more(""), more('{"n"'), more(":1}"))).toEqual([A]);
    const unlabelled = (args: string) => piece({ id: "a" }, "read", args);
    expect(found(unlabelled('{"n"'), unlabelled(":1}"))).toEqual([A]);
  });

  test("only the name repeated in each chunk: complete arguments that begin again are the next call", () => {
    const named = (args: string) => piece({}, "read", args);
    expect(found(named('{"n"'), named(":1}"), named('{"n":2}'))).toEqual([
      ["call_1", "read", { n: 1 }],
      ["call_2", "read", { n: 2 }],
    ]);
  });

  test("another id in each chunk", () => {
    expect(
      found(piece({ index: 0, id: "a" }, "read", '{"n"'), piece({ index: 0, id: "z" }, undefined, ":1}")),
    ).toEqual([A]);
    expect(found(piece({ id: "a" }, "read", '{"n"'), piece({ id: "z" }, undefined, ":1}"))).toEqual([A]);
    expect(
      found(piece({ index: 0, id: "a" }, "read", '{"n"'), piece({ index: 0, id: "z" }, "read", ":1}")),
    ).toEqual([A]);
  });

  test("empty ids become unique ones, which are the same in all chunks", () => {
    expect(
      found(piece({ index: 0, id: "" }, "read", '{"n"'), piece({ index: 0, id: "" }, "", ":1}")),
    ).toEqual([["call_1", "read", { n: 1 }]]);
    const whole = (n: number) => ({ function: { name: "read", arguments: `{"n":${n}}` } });
    expect(found({ tool_calls: [whole(1), whole(2)] })).toEqual([
      ["call_1", "read", { n: 1 }],
      ["call_2", "read", { n: 2 }],
    ]);
  });

  test("one id for two calls becomes two", () => {
    expect(
      found(piece({ index: 0, id: "a" }, "read", '{"n":1}'), piece({ index: 1, id: "a" }, "read", '{"n":2}')),
    ).toEqual([A, ["a_2", "read", { n: 2 }]]);
  });

  test("arguments as an object, as null, as invalid JSON", () => {
    expect(found(piece({ index: 0, id: "a" }, "read", { n: 1 }))).toEqual([A]);
    expect(found(piece({ index: 0, id: "a" }, "read", null))).toEqual([["a", "read", {}]]);
    expect(found(piece({ index: 0, id: "a" }, "read", '{"n":'))).toEqual([["a", "read", '{"n":']]);
  });

  test("the legacy form, and calls with the finish reason stop", () => {
    expect(
      found({ function_call: { name: "read", arguments: '{"n"' } }, { function_call: { arguments: ":1}" } }),
    ).toEqual([["call_1", "read", { n: 1 }]]);
    expect(answer(piece({ index: 0, id: "a" }, "read", "{}")).stopReason).toBe("toolUse");
  });

  test("five fragments give one object (PROV-13.2)", () => {
    const [first, ...rest] = ['{"pa', 'th":', '"a/b', '","n"', ":[1,2]}"];
    expect(
      found(
        piece({ index: 0, id: "a" }, "read", first),
        ...rest.map((args) => piece({ index: 0 }, undefined, args)),
      ),
    ).toEqual([["a", "read", { path: "a/b", n: [1, 2] }]]);
  });
});

describe("answers of chat completions", () => {
  const answer = (chunks: readonly (object | string)[]) =>
    readAnswer((context) => new CompletionsAssembler(context), [encodeSse(chunks, false)]).message;
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ delta, finish_reason }],
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["model_length", "length"],
    // Without a call in the answer there is nothing to run.
    ["tool_calls", "stop"],
    ["content_filter", "guardRail"],
    ["something_new", "stop"],
  ])("finish reason %s is %s", (reason, stopReason) =>
    expect(answer([chunk({}, reason)]).stopReason).toBe(stopReason),
  );

  test("an answer is a text, or calls with or without a text, and reports its usage [IRON-06]", () => {
    const used = {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      },
      choices: [],
    };
    const made = { index: 0, id: "c", function: { name: "read", arguments: '{"n":1}' } };
    const call = { type: "toolCall", id: "c", name: "read", arguments: { n: 1 } };
    const texts = answer([chunk({ content: "Hi" }, "stop"), used]);
    const calls = answer([chunk({ tool_calls: [made] }, "tool_calls"), used]);
    const both = answer([
      chunk({ reasoning: "hm" }),
      chunk({ content: "I look." }),
      chunk({ tool_calls: [made] }, "tool_calls"),
      used,
    ]);
    expect(texts.content).toEqual([{ type: "text", text: "Hi" }]);
    expect(calls.content).toEqual([call]);
    expect(both.content).toEqual([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look." },
      call,
    ]);
    for (const { usage } of [texts, calls, both]) {
      expect(usage).toMatchObject({ input: 10, output: 10, cacheRead: 60, cacheWrite: 30 });
    }
  });

  test("reasoning under each of its names, once [THK-04.2, TYP-02.4]", () => {
    const thought = (delta: object) => answer([chunk(delta), chunk({ content: "x" }, "stop")]).content[0];
    const hm = { type: "thinking", thinking: "hm" };
    expect(thought({ reasoning_content: "hm" })).toEqual(hm);
    expect(thought({ reasoning: "hm" })).toEqual(hm);
    expect(thought({ reasoning: "hm", reasoning_content: "hm" })).toEqual(hm);
    expect(thought({ reasoning: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] })).toEqual(
      hm,
    );
    expect(thought({ reasoning_details: [{ type: "reasoning.summary", summary: "hm" }] })).toEqual(hm);
    expect(thought({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] })).toEqual(
      hm,
    );
  });

  test("OpenRouter's details are stored whole, to be sent back", () => {
    const details = (piece: object) =>
      chunk({ reasoning_details: [{ index: 0, type: "reasoning.text", ...piece }] });
    const { content } = answer([
      details({ text: "h", format: "f" }),
      details({ text: "m" }),
      details({ signature: "sig", text: "" }),
      details({ signature: "", format: null }),
      chunk({ content: "x" }, "stop"),
    ]);
    const [first] = content;
    expect(first).toMatchObject({ type: "thinking", thinking: "hm" });
    expect(JSON.parse((first as { signature: string }).signature)).toEqual([
      { index: 0, type: "reasoning.text", text: "hm", format: "f", signature: "sig" },
    ]);
  });

  test("a refusal is a stop by the vendor, unless the answer has calls nevertheless", () => {
    const refused = answer([chunk({ refusal: "I won't" }, "stop")]);
    expect(refused).toMatchObject({ stopReason: "guardRail", errorMessage: "vendor refused to answer" });
    const calls = [{ index: 0, id: "c", function: { name: "read", arguments: "{}" } }];
    expect(answer([chunk({ refusal: "no" }), chunk({ tool_calls: calls }, "stop")]).stopReason).toBe(
      "toolUse",
    );
    expect(answer([chunk({ refusal: null, content: "yes" }, "stop")]).stopReason).toBe("stop");
    expect(answer([chunk({ content: "h" }), chunk({}, "content_filter")])).toMatchObject({
      stopReason: "guardRail",
      errorMessage: "the answer was filtered (content_filter)",
    });
  });

  test("of several answers the first is used, at any position; [DONE] without a finish reason is a broken stream", () => {
    const other = { index: 1, delta: { content: "no" }, finish_reason: "stop" };
    const both = { ...chunk({ content: "yes" }), choices: [other, ...chunk({ content: "yes" }).choices] };
    expect(answer([both, { ...both, choices: [other] }, chunk({}, "length")])).toMatchObject({
      content: [{ type: "text", text: "yes" }],
      stopReason: "length",
    });
    expect(() => answer([chunk({ content: "half" }), "[DONE]"])).toThrow("before the answer was complete");
  });

  test("a tier is reported if it is not the standard one; Groq's usage is read from its own field", () => {
    const tier = (service_tier: unknown) =>
      answer([{ ...chunk({ content: "x" }, "stop"), service_tier }]).serviceTier;
    expect([tier("flex"), tier("priority")]).toEqual(["flex", "priority"]);
    expect([tier("default"), tier("on_demand"), tier(null)]).toEqual([undefined, undefined, undefined]);
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    expect(answer([{ ...chunk({}, "stop"), x_groq: { id: "r", usage } }]).usage.totalTokens).toBe(7);
    const model = { ...openai("gpt-5-mini"), serviceTier: "flex" };
    expect(buildCompletionsRequest(createRequest(model))).toHaveProperty("service_tier", "flex");
    expect(buildCompletionsRequest(createRequest(openai("gpt-5-mini")))).not.toHaveProperty("service_tier");
  });

  test.each(['{"id":"rs_1"}', "[1]", '[{"type":"summary_text"}]', "CiQB"])(
    "OpenRouter receives no token of another form, and the thinking as text: %j [XLAT-03.2]",
    (signature) => {
      const model = openrouter("a/b");
      const made = { type: "thinking" as const, thinking: "hm", signature };
      const said = { ...answer([chunk({ content: "x" }, "stop")]), provider: "openrouter" };
      const messages = [{ ...said, content: [made, ...said.content] }];
      expect(buildCompletionsRequest(createRequest(model, { messages })).messages).toEqual([
        { role: "assistant", content: "[Reasoning] hm\n\nx" },
      ]);
    },
  );

  test("a refusal is text; text and thinking keep their order", () => {
    expect(answer([chunk({ refusal: "I " }), chunk({ refusal: "won't" }, "stop")]).content).toEqual([
      { type: "text", text: "I won't" },
    ]);
    const parts = answer([
      chunk({ content: "a" }),
      chunk({ reasoning: "b" }),
      chunk({ content: "c" }, "stop"),
    ]).content;
    expect(parts.map(({ type }) => type)).toEqual(["text", "thinking", "text"]);
  });

  test.each([
    [
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 110,
        prompt_tokens_details: { cached_tokens: 60 },
      },
      [40, 10, 0, 60, 0, 110],
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      },
      [10, 10, 0, 60, 30, 110],
    ],
    [
      {
        prompt_tokens: 9,
        completion_tokens: 10,
        total_tokens: 19,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      [9, 10, 7, 0, 0, 19],
    ],
    // xAI: reasoning in addition to the completion.
    [
      {
        prompt_tokens: 9,
        completion_tokens: 10,
        total_tokens: 26,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      [9, 17, 7, 0, 0, 26],
    ],
    [{ prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 }, [5, 1, 0, 4, 0, 10]],
    [{ prompt_tokens: 9, completion_tokens: 1, cached_tokens: 40 }, [0, 1, 0, 9, 0, 10]],
    // Mistral, and LiteLLM in front of Anthropic.
    [{ prompt_tokens: 9, completion_tokens: 1, num_cached_tokens: 4 }, [5, 1, 0, 4, 0, 10]],
    [
      { prompt_tokens: 9, completion_tokens: 1, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
      [2, 1, 0, 4, 3, 10],
    ],
    [{ prompt_tokens: -1, completion_tokens: "many", total_tokens: null }, [0, 0, 0, 0, 0, 0]],
  ])(
    "usage %j [CACHE-04.1-2]",
    (reported, [input, output, reasoning, cacheRead, cacheWrite, totalTokens]) => {
      expect(toUsage(reported)).toEqual({ input, output, reasoning, cacheRead, cacheWrite, totalTokens });
    },
  );
});

test("Claude's thinking and its signature arrive in chunks, the usage with its cache counters at the beginning and the end [THK-04.1, CACHE-04.1-2]", () => {
  const delta = (piece: object) => ({ type: "content_block_delta", index: 0, delta: piece });
  const events = [
    {
      type: "message_start",
      message: {
        id: "m",
        usage: { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 40 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    delta({ type: "thinking_delta", thinking: "h" }),
    delta({ type: "thinking_delta", thinking: "m" }),
    delta({ type: "signature_delta", signature: "s==" }),
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { ...delta({ type: "text_delta", text: "x" }), index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  const { message, deltas } = readAnswer((context) => new AnthropicAssembler(context), [encodeSse(events)]);
  expect(deltas).toEqual([
    { type: "thinking", index: 0, delta: "h" },
    { type: "thinking", index: 0, delta: "m" },
    { type: "text", index: 1, delta: "x" },
  ]);
  expect(message.content).toEqual([
    { type: "thinking", thinking: "hm", signature: "s==" },
    { type: "text", text: "x" },
  ]);
  expect(message.usage).toEqual({
    input: 5,
    output: 7,
    reasoning: 0,
    cacheRead: 100,
    cacheWrite: 40,
    totalTokens: 152,
  });
});

test("five fragments of Claude's arguments are one object, made at the end of the block [PROV-10]", () => {
  const fragments = ['{"pa', 'th":', '"a/b', '","n"', ":[1,2]}"];
  const call = { type: "tool_use", id: "toolu_1", name: "read", input: {} };
  const events = [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 5 } } },
    { type: "content_block_start", index: 0, content_block: call },
    ...fragments.map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  const { message, deltas } = readAnswer((context) => new AnthropicAssembler(context), [encodeSse(events)]);
  expect(joinDeltas(deltas)).toEqual([`toolCall:${fragments.join("")}`]);
  expect(message.content).toEqual([
    { type: "toolCall", id: "toolu_1", name: "read", arguments: { path: "a/b", n: [1, 2] } },
  ]);
});

test("Claude's arguments that are cut off at the limit stay text", () => {
  const events = [
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "t", name: "read", input: {} },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: '{"path": "a' },
    },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  const { message } = readAnswer((context) => new AnthropicAssembler(context), [encodeSse(events)]);
  expect(message.content).toEqual([{ type: "toolCall", id: "t", name: "read", arguments: '{"path": "a' }]);
  expect(message.stopReason).toBe("length");
});

test("Claude's blocks that are complete at their start, as some servers send them, are read", () => {
  const events = [
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "hm", signature: "s" },
    },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "hello" } },
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "t", name: "read", input: { n: 1 } },
    },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
    { type: "message_stop" },
  ];
  const { message, deltas } = readAnswer((context) => new AnthropicAssembler(context), [encodeSse(events)]);
  expect(message.content).toEqual([
    { type: "thinking", thinking: "hm", signature: "s" },
    { type: "text", text: "hello" },
    { type: "toolCall", id: "t", name: "read", arguments: { n: 1 } },
  ]);
  expect(message.stopReason).toBe("toolUse");
  expect(deltas.map(({ type, index, delta }) => [type, index, delta])).toEqual([
    ["thinking", 0, "hm"],
    ["text", 1, "hello"],
    ["toolCall", 2, ""],
  ]);
});

describe("events from bytes", () => {
  test("property: slicing changes nothing", () => {
    const line = fc.string({ unit: anyGrapheme, maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, " "));
    const event = fc.record({
      event: fc.option(
        line.filter((text) => text.trim() === text && text !== ""),
        { nil: undefined },
      ),
      data: line,
    });
    const ending = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), ending, fc.boolean(), (events, eol, mark) => {
        const lines = events.map(
          ({ event, data }) =>
            `${event === undefined ? "" : `event: ${event}${eol}`}data: ${data}${eol}${eol}`,
        );
        const bytes = Buffer.from((mark ? "\ufeff" : "") + lines.join(""), "utf8");
        const whole = new SseReader().read(bytes);
        const reader = new SseReader();
        expect(sliceBytes(bytes).flatMap((byte) => [...reader.read(byte)])).toEqual([...whole]);
        expect(whole.map(({ event, data }) => ({ event, data }))).toEqual(events);
      }),
    );
  });

  test("the last event needs no blank line if its data is complete; a truncated event is dropped", () => {
    const last = (text: string) => {
      const reader = new SseReader();
      expect(reader.read(Buffer.from(text))).toEqual([]);
      return reader.end().map(({ event, data }) => [event, data]);
    };
    expect(last('event: e\ndata: {"a":1}')).toEqual([["e", '{"a":1}']]);
    expect(last('data: {"a":1}\r\n')).toEqual([[undefined, '{"a":1}']]);
    expect(last("data: [DONE]")).toEqual([[undefined, "[DONE]"]]);
    for (const cut of ['data: {"a":1', "data: [DO", 'data: {"a":"\ud83c', "event: e", "data: 1", "dat", ""])
      expect(last(cut)).toEqual([]);
  });

  test("an event without an end is dropped at the limit", () => {
    const reader = new SseReader(1000);
    expect(reader.read(Buffer.from(`data: ${"x".repeat(2000)}`))).toEqual([]);
    expect(reader.isOverrun).toBe(true);
    expect(reader.read(Buffer.from("\n\n"))).toEqual([]);
  });
});

describe("overflow (OVF-02.2, OVF-03.1-2)", () => {
  test("nine phrases are specified, six are our own", () => {
    expect(OVERFLOW_PHRASES.length).toBe(15);
    expect(OVERFLOW_PHRASES.filter(({ isOurs }) => isOurs === true).length).toBe(6);
  });

  test.each([
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 400000 tokens.",
    "context_length_exceeded",
    "request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit (2013)",
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    "prompt token count of 135000 exceeds the limit of 128000",
    "Too many tokens",
  ])("%s", (text) => expect(isOverflowText(text)).toBe(true));

  test("other texts, and blank ones with another status, are not", () => {
    expect(isOverflow(400, "max_tokens must be positive")).toBe(false);
    expect(isOverflow(500, "")).toBe(false);
    expect(isOverflow(404, " ")).toBe(false);
  });
});

describe("models by name", () => {
  test("the factories set protocol, address, key and window [PROV-03.1-2, PROV-03.4-5, PROV-26.1, PROV-27.1, PROV-27.3, PROV-02.2, X-25.1]", () => {
    expect(anthropic("claude-x")).toMatchObject({
      api: "anthropic_messages",
      provider: "anthropic",
      baseUrl: "https://api.anthropic.com",
      contextWindow: 200_000,
      apiKey: `\${ANTHROPIC_API_KEY}`,
      maxTokens: 8192,
    });
    expect(openai("gpt-x")).toMatchObject({
      api: "openai_completions",
      provider: "openai",
      baseUrl: "https://api.openai.com/v1",
      contextWindow: 128_000,
      apiKey: `\${OPENAI_API_KEY}`,
    });
    expect(openaiResponses("gpt-x")).toEqual({ ...openai("gpt-x"), api: "openai_responses" });
    expect(azure("prod", { baseUrl: "https://r.openai.azure.com/" })).toMatchObject({
      id: "prod",
      api: "azure_openai_responses",
      provider: "azure",
      baseUrl: "https://r.openai.azure.com",
      contextWindow: 128_000,
      apiKey: `\${AZURE_OPENAI_API_KEY}`,
    });
    expect(openrouter("a/b")).toMatchObject({
      provider: "openrouter",
      baseUrl: "https://openrouter.ai/api/v1",
      contextWindow: 200_000,
      apiKey: `\${OPENROUTER_API_KEY}`,
    });
    expect(local("http://127.0.0.1:8080/v1", "m")).toMatchObject({
      provider: "local",
      contextWindow: 128_000,
    });
    expect(local("http://127.0.0.1:8080/v1", "m").apiKey).toBeUndefined();
  });

  test("names as users write them", () => {
    expect(parseModel("anthropic/claude-x")).toEqual(anthropic("claude-x"));
    expect(parseModel("openai/gpt-x")).toEqual(openai("gpt-x"));
    expect(parseModel("openai-responses/gpt-x")).toEqual(openaiResponses("gpt-x"));
    expect(parseModel("anthropic/claude-opus-5-5")).toMatchObject({
      id: "claude-opus-5-5",
      provider: "anthropic",
    });
    expect(parseModel("openai/gpt-6-sol")).toMatchObject({ id: "gpt-6-sol", api: "openai_completions" });
    expect(parseModel("openai-responses/gpt-6-sol")).toMatchObject({
      id: "gpt-6-sol",
      api: "openai_responses",
    });
    expect(parseModel("azure/prod@https://r.openai.azure.com/")).toEqual(
      azure("prod", { baseUrl: "https://r.openai.azure.com" }),
    );
    expect(parseModel("openrouter/anthropic/claude-opus-5-5")).toEqual(
      openrouter("anthropic/claude-opus-5-5"),
    );
    expect(parseModel("local/org/m@q4@http://127.0.0.1:8080/v1/")).toEqual(
      local("http://127.0.0.1:8080/v1", "org/m@q4"),
    );
    expect(parseModel("bedrock/us.amazon.nova-x-v1:0")).toEqual(bedrock("us.amazon.nova-x-v1:0"));
    expect(parseModel("bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/a").id).toBe(
      "arn:aws:bedrock:eu-west-1:1:inference-profile/a",
    );
    expect(parseModel("local/m", { baseUrl: "http://127.0.0.1:1/v1" }).baseUrl).toBe("http://127.0.0.1:1/v1");
    expect(parseModel("anthropic/x", { baseUrl: "http://127.0.0.1:1", contextWindow: 9 })).toMatchObject({
      baseUrl: "http://127.0.0.1:1",
      contextWindow: 9,
    });
  });

  test.each([
    [{ AZURE_OPENAI_ENDPOINT: "https://e.openai.azure.com/" }, "https://e.openai.azure.com"],
    [{ AZURE_OPENAI_RESOURCE_NAME: "r" }, "https://r.openai.azure.com"],
    [
      { AZURE_OPENAI_BASE_URL: "https://b/openai/v1", AZURE_OPENAI_ENDPOINT: "https://e" },
      "https://b/openai/v1",
    ],
  ])("a deployment's address is read from the environment: %j", (names, baseUrl) => {
    for (const [name, value] of Object.entries(names)) vi.stubEnv(name, value);
    expect(parseModel("azure/prod").baseUrl).toBe(baseUrl);
    vi.unstubAllEnvs();
  });

  test("an Azure model with an authorization header needs no key [PROV-19.3]", () => {
    const headers = { Authorization: `Bearer \${TOKEN}` };
    expect(azure("prod", { baseUrl: "https://r", headers }).apiKey).toBeUndefined();
  });

  test.each([
    [
      "antropic/x",
      'Unknown provider "antropic" in model "antropic/x". Did you mean "anthropic"? Known: anthropic, openai, openai-responses, azure, openrouter, google, vertex, bedrock, local.',
    ],
    [
      "claude-opus-5-5",
      'Unknown provider "claude-opus-5-5" in model "claude-opus-5-5". Known: anthropic, openai, openai-responses, azure, openrouter, google, vertex, bedrock, local.',
    ],
    [
      "toString/x",
      'Unknown provider "toString" in model "toString/x". Known: anthropic, openai, openai-responses, azure, openrouter, google, vertex, bedrock, local.',
    ],
    ["anthropic/", 'Model "anthropic/" has a provider but no model id: write anthropic/ID'],
    ["openai", 'Model "openai" has a provider but no model id: write openai/ID'],
    ["local/m", "The model's address is missing: write local/m@http://127.0.0.1:8080/v1"],
    [
      "azure/prod",
      "The address of the Azure deployment prod is missing: write azure/prod@https://RESOURCE.openai.azure.com, or set AZURE_OPENAI_ENDPOINT",
    ],
  ])("%s is rejected", (name, message) => {
    expect(() => parseModel(name)).toThrow(new ModelError(message));
  });
});

test.each([
  // The factory's default.
  [openai("m").baseUrl, "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com", "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"],
  ["https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/chat/completions"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"],
  ["https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"],
  ["https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"],
  ["https://g.com/v1beta/openai?x=1", "https://g.com/v1beta/openai/chat/completions?x=1"],
  ["https://api.deepseek.com/chat/completions", "https://api.deepseek.com/chat/completions"],
])("completions of %s are at %s [X-25.2]", (base, url) =>
  expect(buildEndpoint(base, "/chat/completions", "/v1", false)).toBe(url),
);

const AZURE = "https://r.openai.azure.com";
test.each([
  [AZURE, undefined, `${AZURE}/openai/v1/responses`],
  [`${AZURE}/openai`, undefined, `${AZURE}/openai/v1/responses`],
  [`${AZURE}/openai/v1/`, undefined, `${AZURE}/openai/v1/responses`],
  [`${AZURE}/openai/v1/responses`, undefined, `${AZURE}/openai/v1/responses`],
  ["https://gateway.example/llm", undefined, "https://gateway.example/llm/responses"],
  [AZURE, "2025-04-01-preview", `${AZURE}/openai/responses?api-version=2025-04-01-preview`],
  [`${AZURE}/openai?api-version=v7`, undefined, `${AZURE}/openai/responses?api-version=v7`],
  [
    `${AZURE}/openai/deployments/prod`,
    undefined,
    `${AZURE}/openai/deployments/prod/responses?api-version=2025-01-01-preview`,
  ],
  [`${AZURE}/openai?api-version=v7`, "v8", `${AZURE}/openai/responses?api-version=v8`],
  [`${AZURE}/openai/deployments/prod`, "v8", `${AZURE}/openai/deployments/prod/responses?api-version=v8`],
])("Azure's responses of %s (%s) are at %s [PROV-19.1, GAP-09.2]", (baseUrl, apiVersion, url) =>
  expect(buildAzureUrl({ baseUrl, apiVersion })).toBe(url),
);

test.each([
  ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
  ["https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"],
  ["https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"],
  ["https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1/messages"],
])("messages of %s are at %s", (base, url) =>
  expect(buildEndpoint(base, "/messages", "/v1", true)).toBe(url),
);

test("half a character is never sent, and everything else is", async () => {
  expect(await stringifyRequest({ a: ["x\ud83c", "\udf0dx", "🌍"] })).toBe(
    '{"a":["x\ufffd","\ufffdx","🌍"]}',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.string({
        unit: fc.constantFrom("a", "\\", '"', "u", "d", "8", "\ud83c", "\udf0d", "\n"),
        maxLength: 12,
      }),
      async (text) => {
        expect(JSON.parse(await stringifyRequest({ text })).text).toBe(
          text.replace(/\p{Surrogate}/gu, "\ufffd"),
        );
      },
    ),
  );
  expect(await stringifyRequest({ "\ud83c": "\\\ud83c\\ud83c" })).toBe('{"\ufffd":"\\\\\ufffd\\\\ud83c"}');
  expect(await stringifyRequest({ a: "\\ud800" })).toBe(JSON.stringify({ a: "\\ud800" }));
});

test("secrets are masked as a whole and by word, except for short words", () => {
  const mask = createMask(["sk-abcdef", "Bearer tok-123456", "a b", undefined, ""]);
  expect(mask("key sk-abcdef, tok-123456, a b, Bearer x")).toBe("key ***, ***, a b, Bearer x");
});

test("the secret parts of Amazon's combined credentials are masked separately too, other keys only as a whole", () => {
  const mask = createMask([
    "AKIAIOSFODNN7EXAMPLE:wJalr/XUtn+FEMI:session/token==\n",
    "postgres://reader:pass-word@host",
  ]);
  expect(mask("wJalr/XUtn+FEMI session/token== AKIAIOSFODNN7EXAMPLE:wJalr/XUtn+FEMI:session/token==")).toBe(
    "*** *** ***",
  );
  expect(mask("postgres pass-word")).toBe("postgres pass-word");
});

test("the registry: built-ins, replacement, look-up [PROV-05.1-2]", () => {
  const registry = ProviderRegistry.createDefault();
  expect(registry.listProtocols()).toEqual([
    ...["anthropic_messages", "openai_completions", "openai_responses", "azure_openai_responses"],
    ...["google_generative_ai", "google_vertex", "bedrock_converse_stream"],
  ]);
  expect(registry.get("openai_responses")?.id).toBe("openai_responses");
  expect(registry.get("azure_openai_responses")?.id).toBe("azure_openai");
  expect(registry.get("anthropic_messages")?.id).toBe("anthropic");
  expect(registry.get("openai_completions")?.id).toBe("openai");
  expect(registry.get("bedrock_converse_stream")?.id).toBe("bedrock");
  const empty = new ProviderRegistry();
  expect(empty.has("bedrock_converse_stream")).toBe(false);
  expect(empty.get("bedrock_converse_stream")).toBeUndefined();
  const mine = { id: "mine", protocol: "anthropic_messages" } as Provider;
  expect(new ProviderRegistry().register(mine).get("anthropic_messages")).toBe(mine);
  expect(registry.register(mine).get("anthropic_messages")).toBe(mine);
});
