import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildConversation } from "../../src/models/conversation.ts";
import { selectIdRule, toInputItems } from "../../src/models/responses/input-items.ts";
import { ResponsesAssembler } from "../../src/models/responses/responses-assembler.ts";
import { AssistantMessage } from "../../src/schema/message.ts";
import { catchProviderError, type context, encodeSse, joinDeltas, readAnswer } from "./answer-reader.ts";

const assemble = (given: typeof context) => new ResponsesAssembler(given);
const read = (events: readonly unknown[]) => readAnswer(assemble, [encodeSse(events)]);
const contentOf = (...events: unknown[]) => read([...events, end()]).message.content;
const fault = async (...events: unknown[]) => await catchProviderError((async () => read(events))());

const event = (type: string, fields: object = {}) => ({ type: `response.${type}`, ...fields });
const end = (response: object = {}) =>
  event("completed", { response: { id: "resp_1", status: "completed", ...response } });
const added = (output_index: number, item: object) => event("output_item.added", { output_index, item });
const done = (output_index: number, item: object) => event("output_item.done", { output_index, item });
const delta = (output_index: number, text: string, more: object = {}) =>
  event("output_text.delta", { output_index, content_index: 0, delta: text, ...more });
const args = (output_index: number, text: string) =>
  event("function_call_arguments.delta", { output_index, delta: text });

const message = (id: string, ...texts: string[]) => ({
  type: "message",
  id,
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
});
const call = (call_id: string, given: unknown, more: object = {}) => ({
  type: "function_call",
  id: `fc_${call_id}`,
  call_id,
  name: "read",
  arguments: given,
  ...more,
});
const reasoning = (more: object = {}) => ({ type: "reasoning", id: "rs_1", summary: [], ...more });
const text = (value: string, id = "msg_1") => ({
  type: "text",
  text: value,
  signature: JSON.stringify({ type: "message", id }),
});
const toolCall = (id: string, given: unknown) => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: given,
  signature: JSON.stringify({ type: "function_call", id: `fc_${id}` }),
});

const HELLO = [added(0, message("msg_1")), delta(0, "Grüße "), delta(0, "🌍")];

describe("the end of an answer", () => {
  test.each([
    ["none", []],
    ["[DONE] alone", ["[DONE]"]],
    ["all items whole, and no more", [done(0, message("msg_1", "Grüße 🌍"))]],
  ])("that is missing (%s) is a broken stream", async (_name, more) => {
    expect(await fault(...HELLO, ...more)).toMatchObject({
      fault: "network",
      message: "vendor: the stream ended before the answer was complete",
    });
  });

  test("is final: a second one and later events change nothing", () => {
    const late = [end({ id: "resp_2" }), delta(0, "late"), { type: "error", message: "late" }, "[DONE]", "{"];
    const { message: answer } = read([...HELLO, end(), ...late]);
    expect(answer).toMatchObject({ content: [text("Grüße 🌍")], responseId: "resp_1", stopReason: "stop" });
  });

  test.each([
    ["incomplete", { incomplete_details: { reason: "max_output_tokens" } }, "length"],
    ["incomplete", { incomplete_details: { reason: "max_messages" } }, "length"],
    ["incomplete", { incomplete_details: { reason: "steered" } }, "length"],
    ["incomplete", {}, "length"],
    ["completed", { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    ["completed", { status: "in_progress" }, "toolUse"],
    ["incomplete", { status: "in_progress" }, "length"],
    ["done", {}, "toolUse"],
  ])(
    "%s %j gives the stop reason %s, and truncated calls are not run [PROV-07.2-3, GAP-05]",
    (name, response, reason) => {
      const events = [added(0, call("a", "")), args(0, "{}"), event(name, { response })];
      expect(read(events).message.stopReason).toBe(reason);
    },
  );

  test("by a filter has the stop reason guardRail [PROV-07.6]", () => {
    const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" } };
    expect(read([...HELLO, event("incomplete", { response: filtered })]).message).toMatchObject({
      content: [text("Grüße 🌍")],
      stopReason: "guardRail",
      errorMessage: "the answer was filtered (content_filter)",
    });
  });

  test("with a refusal has the stop reason guardRail and the model's text [PROV-07.6]", () => {
    const refused = { type: "message", id: "msg_1", content: [{ type: "refusal", refusal: "I cannot." }] };
    const pieces = [
      added(0, message("msg_1")),
      event("refusal.delta", { output_index: 0, content_index: 0, delta: "I can" }),
      event("refusal.done", { output_index: 0, content_index: 0, refusal: "I cannot." }),
    ];
    for (const events of [pieces, [done(0, refused)], [...pieces, done(0, refused)]]) {
      const { message: answer, deltas } = read([...events, end({ output: [refused] })]);
      expect(answer).toMatchObject({
        content: [text("I cannot.")],
        stopReason: "guardRail",
        errorMessage: "refused: I cannot.",
      });
      expect(joinDeltas(deltas)).toEqual(["text:I cannot."]);
    }
  });
});

describe("an error", () => {
  test.each([
    [
      { type: "error", code: "server_error", message: "oops", param: null, sequence_number: 3 },
      "api",
      "server_error",
    ],
    [{ type: "error", code: "rate_limit_exceeded", message: "oops" }, "rate-limited", "rate_limit_exceeded"],
    [{ type: "error", error: { type: "server_error", code: "x", message: "oops" } }, "api", "server_error"],
    [
      { type: "error", error: { type: "tokens", code: "rate_limit_exceeded", message: "oops" } },
      "rate-limited",
      "tokens",
    ],
    [
      { type: "error", error: { type: "too_many_requests", code: "too_many_requests", message: "oops" } },
      "rate-limited",
      "too_many_requests",
    ],
    [{ type: "error", error: { code: "invalid_api_key", message: "oops" } }, "auth", "invalid_api_key"],
    [{ type: "error", error: "oops" }, "api", undefined],
    [
      { type: "error", code: "context_length_exceeded", message: "oops" },
      "overflow",
      "context_length_exceeded",
    ],
    [
      {
        type: "error",
        error: { type: "invalid_request_error", message: "oops: Your input exceeds the context window" },
      },
      "overflow",
      "invalid_request_error",
    ],
    [{ error: { code: 502, message: "oops" } }, "api", undefined],
    [{ error: { code: 429, message: "oops" } }, "rate-limited", undefined],
    [{ type: "response.error", error: { message: "oops" } }, "api", undefined],
    [
      event("failed", {
        response: { status: "failed", error: { code: "rate_limit_exceeded", message: "oops" } },
      }),
      "rate-limited",
      "rate_limit_exceeded",
    ],
    [
      event("completed", {
        response: { status: "failed", error: { code: "server_error", message: "oops" } },
      }),
      "api",
      "server_error",
    ],
    [
      event("failed", { response: { error: { code: "invalid_prompt", message: "oops" } } }),
      "api",
      "invalid_prompt",
    ],
  ])("in mid-stream, %j, is %s", async (last, kind, vendorType) => {
    const error = await fault(...HELLO, last, end());
    expect(error).toMatchObject({ fault: kind, vendorType });
    expect(error.message).toContain("oops");
  });

  test.each(["failed", "cancelled"])("without a reason: a response that is %s", async (status) => {
    const error = await fault(...HELLO, event(status, { response: { status, error: null } }));
    expect(error).toMatchObject({ fault: "api" });
    expect(error.message).toContain(`the response is ${status}, without a reason`);
  });

  test("that is not JSON is an API fault as an error event, and otherwise a network fault", async () => {
    const bytes = (name: string, data: string) =>
      encodeSse([`${data}`], false)
        .toString()
        .replace(/^/, `event: ${name}\n`);
    const named = await catchProviderError(
      (async () => readAnswer(assemble, [Buffer.from(bytes("error", "busy"))]))(),
    );
    expect(named).toMatchObject({ fault: "api", message: expect.stringContaining("busy") });
    expect(await fault(...HELLO, "<html>502</html>", end())).toMatchObject({ fault: "network" });
  });
});

describe("the arguments of a call", () => {
  test.each([
    [
      "in hundreds of pieces",
      [...'{"path":"ä","n":12345678901}'].flatMap((one) => [args(0, one)]),
      { path: "ä", n: 12345678901 },
    ],
    ["empty", [], {}],
    ["of blanks", [args(0, " ")], {}],
    ["not JSON", [args(0, '{"path": "a')], '{"path": "a'],
    [
      "whole at once",
      [event("function_call_arguments.done", { output_index: 0, arguments: '{"n":1}' })],
      { n: 1 },
    ],
    ["an object where a text should be", [done(0, call("a", { n: 1 }))], { n: 1 }],
    ["whole with the item", [done(0, call("a", '{"n":1}'))], { n: 1 }],
    [
      "in pieces, then whole, then again",
      [args(0, '{"n"'), args(0, ":1}"), done(0, call("a", '{"n":1}'))],
      { n: 1 },
    ],
    ["other pieces than the whole", [args(0, '{"m":2}'), done(0, call("a", '{"n":1}'))], { n: 1 }],
  ])("%s [PROV-18]", (_name, pieces, expected) => {
    expect(contentOf(added(0, call("a", "")), ...pieces)).toEqual([toolCall("a", expected)]);
    const whole = typeof expected === "string" ? expected : JSON.stringify(expected);
    const output = [call("a", whole)];
    expect(read([added(0, call("a", "")), ...pieces, end({ output })]).message.content).toEqual([
      toolCall("a", expected),
    ]);
  });

  test("with names and ids that arrive late, twice or never", () => {
    const nameless = { type: "function_call", call_id: "", name: "", arguments: "" };
    expect(
      contentOf(
        added(0, nameless),
        event("function_call_arguments.done", { output_index: 0, name: "read", arguments: "{}" }),
        added(1, nameless),
        done(1, call("late", "{}")),
        added(2, { ...nameless, call_id: "late", name: "read" }),
        added(3, { ...nameless, name: "read" }),
      ).map((part) => part.type === "toolCall" && [part.id, part.name]),
    ).toEqual([
      ["call_1", "read"],
      ["late", "read"],
      ["late_2", "read"],
      ["call_4", "read"],
    ]);
  });
});

describe("output items", () => {
  test("with interleaved chunks are separate, in the vendor's order", () => {
    const { message: answer, deltas } = read([
      added(0, message("msg_1")),
      added(1, call("a", "")),
      added(2, call("b", "")),
      delta(0, "Hel"),
      args(2, '{"n"'),
      args(1, '{"n"'),
      delta(0, "lo"),
      args(1, ":1}"),
      args(2, ":2}"),
      done(2, call("b", '{"n":2}')),
      done(0, message("msg_1", "Hello")),
      done(1, call("a", '{"n":1}')),
      end(),
    ]);
    expect(answer.content).toEqual([text("Hello"), toolCall("a", { n: 1 }), toolCall("b", { n: 2 })]);
    const blocks = joinDeltas(deltas);
    expect(blocks.sort()).toEqual(["text:Hello", 'toolCall:{"n":1}', 'toolCall:{"n":2}'].sort());
  });

  test("without ids are identified by their positions, even if they end in another order", () => {
    const bare = (given: string) => ({ type: "function_call", name: "read", arguments: given });
    const ends = [done(0, bare('{"a":1}')), done(1, bare('{"b":2}'))];
    const begun = [added(0, bare("")), added(1, bare("")), args(0, '{"a"'), args(1, '{"b"')];
    for (const order of [ends, ends.toReversed()])
      expect(contentOf(...begun, ...order)).toMatchObject([{ arguments: { a: 1 } }, { arguments: { b: 2 } }]);
  });

  test("that begin out of order are in the vendor's order", () => {
    const events = [added(1, message("msg_2")), delta(1, "b"), added(0, message("msg_1")), delta(0, "a")];
    expect(contentOf(...events)).toEqual([text("a"), text("b", "msg_2")]);
  });

  test("that the end lists under other ids, at other positions, are the same", () => {
    const events = [added(0, reasoning()), done(1, message("msg_1", "hi")), done(2, call("a", "{}"))];
    const output = [message("msg_9", "hi!"), call("a", "{}", { id: "fc_9" })];
    const { content } = read([...events, end({ output })]).message;
    expect(content).toMatchObject([
      { type: "text", text: "hi!" },
      { type: "toolCall", id: "a" },
    ]);
  });

  test("with several parts are several texts of one message", () => {
    expect(
      contentOf(
        added(0, message("msg_1")),
        event("output_text.delta", { output_index: 0, content_index: 0, delta: "a" }),
        event("output_text.delta", { output_index: 0, content_index: 1, delta: "b" }),
        event("output_text.delta", { output_index: 0, content_index: 0, delta: "c" }),
      ),
    ).toEqual([text("ac"), text("b")]);
  });

  test("of the vendor's own types are stored whole, known or not, at their position", () => {
    const own = { type: "brand_new_call", id: "bn_1", anything: [1, { deep: "x" }], status: "completed" };
    const list = { type: "mcp_list_tools", id: "mcpl_1", tools: [{ name: "t" }] };
    expect(
      contentOf(
        added(0, { ...own, status: "in_progress", anything: undefined }),
        event("brand_new_call.progress", { output_index: 0, item_id: "bn_1" }),
        done(0, own),
        added(1, message("msg_1")),
        delta(1, "x"),
        done(2, list),
      ),
    ).toEqual([
      { type: "vendor", kind: "brand_new_call", data: own },
      text("x"),
      { type: "vendor", kind: "mcp_list_tools", data: list },
    ]);
  });

  test("that only the end lists are added from there, and those that it leaves out stay", () => {
    expect(
      read([
        end({ output: [reasoning({ encrypted_content: "g" }), message("msg_1", "hi"), call("a", "{}")] }),
      ]).message.content,
    ).toEqual([
      { type: "thinking", thinking: "", signature: JSON.stringify(reasoning({ encrypted_content: "g" })) },
      text("hi"),
      toolCall("a", {}),
    ]);
    expect(read([...HELLO, end({ output: [] })]).message.content).toEqual([text("Grüße 🌍")]);
    const shifted = [added(0, reasoning()), ...[added(1, message("msg_1")), delta(1, "hi")]];
    expect(read([...shifted, end({ output: [message("msg_1", "hi!")] })]).message.content).toMatchObject([
      { type: "text", text: "hi!" },
    ]);
  });

  test.each([
    ["without ids", (item: object) => ({ ...item, id: undefined }), (index: number) => index],
    ["all under one index", (item: object) => item, () => 0],
    ["without an index", (item: object) => item, () => undefined],
    [
      "with another id each time",
      (item: object) => ({ ...item, id: `id_${Math.random()}` }),
      (index: number) => index,
    ],
  ])("of a server that sends them %s are complete", (_name, given, place) => {
    const at = (index: number) => ({ output_index: place(index) });
    const one = (index: number, item: object, pieces: object[]) => [
      event("output_item.added", { ...at(index), item: given({ ...item, content: [], arguments: "" }) }),
      ...pieces.map((piece) => ({ ...piece, ...at(index) })),
      event("output_item.done", { ...at(index), item: given(item) }),
    ];
    const items = [message("msg_1", "Hi."), call("a", '{"n":1}'), call("b", '{"n":2}')];
    const [answer, first, second] = items as [object, object, object];
    const events = [
      ...one(0, answer, [event("output_text.delta", { content_index: 0, delta: "Hi." })]),
      ...one(1, first, [event("function_call_arguments.delta", { delta: '{"n":1}' })]),
      ...one(2, second, [event("function_call_arguments.delta", { delta: '{"n":2}' })]),
    ];
    for (const output of [[], items.map(given)]) {
      const { content, stopReason } = read([...events, end({ output })]).message;
      expect(content).toMatchObject([
        { type: "text", text: "Hi." },
        { type: "toolCall", id: "a", arguments: { n: 1 } },
        { type: "toolCall", id: "b", arguments: { n: 2 } },
      ]);
      expect(stopReason).toBe("toolUse");
    }
  });

  test("that never began are begun by their first chunk", () => {
    expect(contentOf(event("reasoning_text.delta", { delta: "hm" }), delta(1, "x"))).toEqual([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "x" },
    ]);
  });

  test("keep their citations, sent in chunks or with the whole", () => {
    const cited = { type: "url_citation", url: "https://x", start_index: 0, end_index: 1 };
    const expected = {
      type: "text",
      text: "x",
      signature: JSON.stringify({ type: "message", id: "msg_1", annotations: [cited] }),
    };
    const piece = event("output_text.annotation.added", {
      output_index: 0,
      content_index: 0,
      annotation: cited,
    });
    const whole = {
      ...message("msg_1"),
      content: [{ type: "output_text", text: "x", annotations: [cited] }],
    };
    const begun = [added(0, message("msg_1")), delta(0, "x")];
    expect(contentOf(...begun, piece)).toEqual([expected]);
    expect(contentOf(...begun, done(0, whole))).toEqual([expected]);
    expect(contentOf(...begun, piece, done(0, whole))).toEqual([expected]);
  });
});

describe("reasoning", () => {
  const summary = (index: number, piece: string) =>
    event("reasoning_summary_text.delta", { output_index: 0, summary_index: index, delta: piece });
  const whole = reasoning({
    summary: ["one", "two"].map((one) => ({ type: "summary_text", text: one })),
    encrypted_content: "gAAA",
  });

  test("has summary parts that are separate, in chunks and in the whole; the item is stored unchanged [TYP-02.2]", () => {
    const expected = [{ type: "thinking", thinking: "one\n\ntwo", signature: JSON.stringify(whole) }];
    const pieces = [
      added(0, reasoning({ encrypted_content: "g" })),
      summary(0, "o"),
      summary(0, "ne"),
      summary(1, "two"),
    ];
    expect(contentOf(...pieces, done(0, whole))).toEqual(expected);
    expect(contentOf(done(0, whole))).toEqual(expected);
    const { message: answer, deltas } = read([...pieces, end({ output: [whole] })]);
    expect(answer.content).toEqual(expected);
    expect(joinDeltas(deltas)).toEqual(["thinking:one\n\ntwo"]);
  });

  test.each(["reasoning_text", "reasoning", "reasoning_summary_text", "reasoning_summary"])(
    "is read under the name %s [GAP-07]",
    (name) => {
      const pieces = [
        event(`${name}.delta`, { output_index: 0, delta: "h" }),
        event(`${name}.delta`, { output_index: 0, delta: { text: "m" } }),
        event(`${name}.done`, { output_index: 0, text: "hm!" }),
      ];
      expect(contentOf(added(0, reasoning()), ...pieces)).toEqual([{ type: "thinking", thinking: "hm!" }]);
    },
  );

  test("that only began is not stored as the encrypted whole", () => {
    expect(contentOf(added(0, reasoning({ encrypted_content: "incompl" })), summary(0, "hm"))).toEqual([
      { type: "thinking", thinking: "hm" },
    ]);
  });

  test("keeps its encrypted part if the end leaves it out", () => {
    const { content } = read([done(0, whole), end({ output: [reasoning()] })]).message;
    expect(content).toMatchObject([{ signature: JSON.stringify(whole) }]);
  });

  test("that cannot be sent back leaves no references to it", () => {
    const { message: answer } = read([
      done(0, reasoning()),
      done(1, message("msg_1", "hi")),
      done(2, call("a", "{}", { namespace: "n" })),
      end(),
    ]);
    expect(answer.content).toEqual([
      { type: "text", text: "hi" },
      { ...toolCall("a", {}), signature: '{"type":"function_call","namespace":"n"}' },
    ]);
    const sent = toInputItems(buildConversation([answer], "vendor", selectIdRule("vendor")));
    expect(JSON.stringify(sent)).not.toMatch(/rs_1|msg_1|fc_a/);
    // A summary is for users; the vendor accepts reasoning back only with the encrypted part.
    const shown = reasoning({ summary: [{ type: "summary_text", text: "hm" }] });
    expect(contentOf(done(0, shown), done(1, message("msg_1", "hi")))).toEqual([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "hi" },
    ]);
  });

  test("reasoning that nothing follows is not sent back, however many items it has", () => {
    const thoughts = [1, 2, 3].map((nth) => ({
      type: "thinking" as const,
      thinking: "",
      signature: JSON.stringify({ ...reasoning(), id: `rs_${nth}`, encrypted_content: "x" }),
    }));
    const send = (...content: object[]) => {
      const answer = AssistantMessage.parse({ ...read([end()]).message, content });
      return toInputItems(buildConversation([answer], answer.provider, selectIdRule("vendor")));
    };
    expect(send(text("hi"), ...thoughts).map((item) => "type" in item && item.type)).toEqual(["message"]);
    expect(send(...thoughts, text("hi"))).toHaveLength(4);
  });
});

describe("usage and tier", () => {
  const usage = { input_tokens: 10, output_tokens: 4 };
  const none = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  test.each([
    ["at the end", [end({ usage })], { ...none, input: 10, output: 4, totalTokens: 14 }],
    ["beside the response", [{ ...end(), usage }], { ...none, input: 10, output: 4, totalTokens: 14 }],
    [
      "while it goes on",
      [event("in_progress", { response: { usage } }), end()],
      { ...none, input: 10, output: 4, totalTokens: 14 },
    ],
    ["nowhere", [end({ usage: null })], none],
    [
      "with its parts, as far as they fit",
      [
        end({
          usage: {
            ...usage,
            total_tokens: 99,
            input_tokens_details: { cached_tokens: 8, cache_write_tokens: 5 },
            output_tokens_details: { reasoning_tokens: 7 },
          },
        }),
      ],
      { input: 0, output: 4, reasoning: 4, cacheRead: 8, cacheWrite: 2, totalTokens: 99 },
    ],
    ["of nonsense", [end({ usage: { input_tokens: -1, output_tokens: "4" } })], none],
  ])("%s [TYP-07.4, CACHE-04.1-2]", (_name, events, expected) => {
    expect(read([...HELLO, ...events]).message.usage).toEqual(expected);
  });

  test("the actual service tier, unless it is the standard one", () => {
    const tier = (service_tier: unknown) => read([...HELLO, end({ service_tier })]).message.serviceTier;
    expect([tier("flex"), tier("priority"), tier("default"), tier("auto"), tier(null)]).toEqual([
      ...["flex", "priority", undefined, undefined, undefined],
    ]);
  });
});

describe("an unbounded answer", () => {
  const PIECE = "ü".repeat(50_000);
  const LIMIT = 8 * 1024 * 1024;
  test.each([
    ["its text", delta(0, PIECE)],
    ["its reasoning", event("reasoning_text.delta", { output_index: 1, delta: PIECE })],
    ["the arguments of a call", args(2, PIECE)],
    ["what it cites", event("output_text.annotation.added", { output_index: 0, annotation: { url: PIECE } })],
  ])("is ended at the limit by %s", async (_name, piece) => {
    const error = await fault(...HELLO, ...Array(100).fill(piece), end());
    expect(error).toMatchObject({ fault: "api" });
    expect(error.message).toContain(`the limit is ${LIMIT}`);
  });

  test.each([
    ["encrypted reasoning", reasoning({ encrypted_content: PIECE })],
    ["blocks of the vendor's own", { type: "image_generation_call", id: "ig", result: PIECE }],
  ])("is ended at the limit by %s, each counted once", async (_name, item) => {
    const items = (count: number) => Array.from({ length: count }, (_, at) => ({ ...item, id: `i_${at}` }));
    const all = (count: number) => items(count).map((one, at) => done(at, one));
    expect((await fault(...all(100), end())).message).toContain(`the limit is ${LIMIT}`);
    const { content } = read([...all(50), end({ output: items(50) })]).message;
    expect(content).toHaveLength(50);
  });

  test("is ended by the number of its calls", async () => {
    const many = Array.from({ length: 257 }, (_, at) => added(at, call(`c${at}`, "{}")));
    expect((await fault(...many)).message).toContain("its answer had 257 calls");
  });

  test("is ended by items without content", async () => {
    const many = Array.from({ length: 9000 }, (_, at) => added(at, message(`m${at}`)));
    expect((await fault(...many)).message).toContain("when Holdfast ended it");
  });
});

test("any line endings and a byte order mark are accepted", () => {
  const plain = encodeSse([...HELLO, end()]).toString();
  const expected = readAnswer(assemble, [Buffer.from(plain)]).message;
  for (const bytes of [plain.replaceAll("\n", "\r\n"), `\ufeff${plain}`])
    expect(readAnswer(assemble, [Buffer.from(bytes)]).message).toEqual(expected);
});

describe("property: any sequence of events", () => {
  const index = fc.constantFrom<unknown>(0, 1, 2, -1, "0", null, undefined, 1e9);
  const id = fc.constantFrom<unknown>("a", "b", "", 7, null, undefined);
  const word = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("{", '{"a":1}', "}"), fc.jsonValue());
  const item = fc.record({
    type: fc.constantFrom<unknown>("message", "reasoning", "function_call", "web_search_call", 3, undefined),
    id,
    call_id: id,
    name: word,
    arguments: word,
    content: fc.oneof(
      word,
      fc.array(fc.record({ type: word, text: word, refusal: word, annotations: word })),
    ),
    summary: fc.oneof(word, fc.array(fc.record({ text: word }))),
    encrypted_content: word,
  });
  const names = [
    ...["output_item.added", "output_item.done", "output_text.delta", "output_text.done", "refusal.delta"],
    ...["function_call_arguments.delta", "function_call_arguments.done", "reasoning_text.delta", "created"],
    ...["reasoning_summary_text.done", "output_text.annotation.added", "content_part.added", "unheard_of"],
  ];
  const anyEvent = fc.record({
    type: fc.constantFrom(...names.map((name) => `response.${name}`)),
    output_index: index,
    content_index: index,
    summary_index: index,
    item_id: id,
    item: fc.oneof(item, word),
    delta: word,
    text: word,
    arguments: word,
    annotation: word,
    response: fc.oneof(word, fc.record({ id, usage: word, service_tier: word })),
  });
  const anyEnd = fc
    .record({
      status: word,
      output: fc.oneof(word, fc.array(item, { maxLength: 4 })),
      usage: word,
      error: word,
    })
    .map((response) => event("completed", { response }));

  test("becomes a message or a classified error, and a message can be sent back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvent, { maxLength: 25 }), anyEnd, async (events, last) => {
        const answered = (async () => read([...events, last]).message)();
        const answer = await answered.catch(
          async () => await catchProviderError(answered).then(() => undefined),
        );
        if (answer === undefined) return;
        AssistantMessage.parse(answer);
        toInputItems(buildConversation([answer], answer.provider, selectIdRule("vendor")));
      }),
      { numRuns: 700 },
    );
  });
});
