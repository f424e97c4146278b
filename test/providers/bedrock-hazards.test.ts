import { afterEach, describe, expect, test } from "vitest";
import { bedrock } from "../../src/config/vendor-models.ts";
import { BedrockConverse } from "../../src/models/bedrock-converse/bedrock-converse.ts";
import { FrameReader } from "../../src/models/bedrock-converse/frame-reader.ts";
import { JsonLinesReader } from "../../src/models/bedrock-converse/json-lines-reader.ts";
import type { HttpClientOptions } from "../../src/models/http-client.ts";
import type { ModelRequest, StreamOptions } from "../../src/models/provider.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import type { Content } from "../../src/schema/message.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { catchProviderError, createHttp, createRequest, plainVendor } from "./answer-reader.ts";
import {
  call,
  createTail,
  type Events,
  encodeEvent,
  encodeException,
  encodeStream,
  head,
  readFrames,
  reasoning,
  text,
} from "./bedrock-stream.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { sliceBytes, sliceRandomly } from "./slices.ts";

const TYPE = "application/vnd.amazon.eventstream";
const STREAM = { "content-type": TYPE };
const BEGUN = [...head, ...text(0, "Grüße ", "🌍!")];
const WHOLE = encodeStream([...BEGUN, ...createTail("end_turn")]);

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

async function serve(reply: Parameters<typeof LoopbackServer.start>[0]): Promise<LoopbackServer> {
  const server = await LoopbackServer.start(reply);
  cleanup.push(async () => await server.stop());
  return server;
}

type Ask = HttpClientOptions & Partial<StreamOptions> & { readonly request?: Partial<ModelRequest> };

function ask(url: string, { signal, onDelta, request, ...options }: Ask = {}) {
  const pool = createHttp(options);
  cleanup.push(async () => await pool.close());
  return new BedrockConverse({ http: pool }).stream(createRequest(bedrock("m", { baseUrl: url }), request), {
    signal: signal ?? new AbortController().signal,
    onDelta,
  });
}

const words = (message: Awaited<ReturnType<typeof ask>>) =>
  message.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");

describe("an unusual but complete answer", () => {
  test.each([
    ["of that type with a charset", { "content-type": `${TYPE}; charset=utf-8` }],
    ["of no type", {}],
    ["of unnamed bytes", { "content-type": "application/octet-stream" }],
  ])("%s", async (_name, headers) => {
    const server = await serve((response) => response.writeHead(200, headers).end(WHOLE));
    expect(words(await ask(server.url))).toBe("Grüße 🌍!");
  });

  const lines = (events: Events) =>
    Buffer.from(events.map((event) => `${JSON.stringify(event)}\r\n`).join("\n"));

  test.each(["application/x-ndjson", "application/jsonl; charset=utf-8"])(
    "in lines of JSON is read (%s) [PROV-25.2, X-26.3]",
    async (type) => {
      const bytes = lines([...BEGUN, ...call(1, "t", '{"a":', "1}"), ...createTail("tool_use")]);
      for (const slices of [[bytes], sliceBytes(bytes), sliceRandomly(bytes, 2, 50)]) {
        const server = await serve(async (response) => {
          response.writeHead(200, { "content-type": type });
          await writeSlices(response, slices);
        });
        const message = await ask(server.url);
        expect(words(message)).toBe("Grüße 🌍!<toolCall>");
        expect(message.content[1]).toMatchObject({ arguments: { a: 1 } });
      }
    },
  );

  test("in lines of JSON is an error if it breaks off, is not JSON or reports an error", () => {
    const read = (bytes: Buffer) => faultOfPlay(() => readFrames([bytes], new JsonLinesReader(plainVendor)));
    expect(read(lines(BEGUN))).toBe("network");
    expect(read(Buffer.concat([lines(BEGUN), Buffer.from("<html>\n")]))).toBe("network");
    expect(read(lines([...BEGUN, { throttlingException: { message: "slow down" } }]))).toBe("rate-limited");
    expect(read(Buffer.from("x".repeat(17 * 1024 * 1024)))).toBe("network");
  });

  const shapes: Record<string, Events> = {
    "an end that comes twice": [...BEGUN, ...createTail("end_turn"), ...createTail("max_tokens")],
    "usage before the end": [...BEGUN, ...createTail("end_turn").toReversed()],
    "no usage at all": [...BEGUN, { messageStop: { stopReason: "end_turn" } }],
    "no beginning": [...text(0, "Grüße ", "🌍!"), ...createTail("end_turn")],
    "blocks that nothing ends": [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Grüße 🌍!" } } },
      ...createTail("end_turn"),
    ],
    "fields of the wrong kind": [
      { contentBlockStart: { contentBlockIndex: "x", start: [] } },
      { contentBlockDelta: { contentBlockIndex: -1, delta: { text: 5 } } },
      { contentBlockDelta: { contentBlockIndex: 9, delta: { toolUse: { input: "{}" } } } },
      { contentBlockDelta: { contentBlockIndex: 9, delta: { toolResult: [{ text: "x" }] } } },
      { contentBlockDelta: { delta: { reasoningContent: { text: null } } } },
      { contentBlockStop: {} },
      ...BEGUN,
      ...createTail("end_turn", { usage: { inputTokens: "many", outputTokens: -1 }, serviceTier: 5 }),
    ],
    "a reason to stop that is new": [...BEGUN, ...createTail("bored")],
  };
  test.each(Object.entries(shapes))("%s", (_name, events) => {
    const { message } = readFrames([encodeStream(events)]);
    expect([words(message), message.stopReason]).toEqual(["Grüße 🌍!", "stop"]);
  });

  test("has a block of its own for text after reasoning at one index, and for text after an end", () => {
    const { message } = readFrames([
      encodeStream([
        ...reasoning(0, { text: "hm" }, { signature: "s" }),
        ...text(0, "a"),
        ...text(0, "b"),
        ...createTail("end_turn"),
      ]),
    ]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });

  test("may have a signature in chunks, and usage before its end, which ends nothing", () => {
    const thought = reasoning(0, { text: "hm" }, { signature: "c2" }, { signature: "ln" });
    expect(readFrames([encodeStream([...thought, ...createTail("end_turn")])]).message.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "c2ln" },
    ]);
    const early = [...BEGUN, { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } }];
    expect(() => readFrames([encodeStream(early)])).toThrow("before the answer was complete");
    const { message } = readFrames([encodeStream([...early, ...createTail("max_tokens")])]);
    expect([message.stopReason, message.usage.input]).toEqual(["length", 12]);
  });

  test("is complete if the connection is lost after its stop reason, before its usage", async () => {
    const server = await serve((response, _received, request) => {
      response.writeHead(200, STREAM);
      response.write(encodeStream([...BEGUN, { messageStop: { stopReason: "end_turn" } }]), () =>
        setTimeout(() => request.socket.destroy(), 20),
      );
    });
    expect(words(await ask(server.url))).toBe("Grüße 🌍!");
  });
});

function faultOfPlay(play: () => unknown): string {
  try {
    play();
  } catch (error) {
    if (error instanceof ProviderError) return error.fault;
    throw error;
  }
  return "none";
}

describe("a response that is not an answer", () => {
  test.each([
    ["events of another vendor's form", 200, "text/event-stream", "data: {}\n\n"],
    ["a page with status 200", 200, "text/html", "<html><body>Sign in</body></html>"],
    ["a whole answer in one piece", 200, "application/json", '{"output":{}}'],
    ["a page with status 502", 502, "text/html", "<html><body>Bad Gateway</body></html>"],
  ])("%s is rejected", async (_name, status, type, body) => {
    const server = await serve((response) => response.writeHead(status, { "content-type": type }).end(body));
    expect((await catchProviderError(ask(server.url))).fault).toBe("api");
  });

  test("a redirect is rejected, and the signature is not forwarded", async () => {
    const server = await serve((response) =>
      response.writeHead(307, { location: "http://127.0.0.1:1/x" }).end(),
    );
    const error = await catchProviderError(ask(server.url));
    expect(error.message).toContain("Redirects are not followed");
    expect(server.received).toHaveLength(1);
  });

  test("a stream without a frame, and half a frame, are network faults", async () => {
    for (const bytes of [Buffer.alloc(0), WHOLE.subarray(0, 9)]) {
      const server = await serve((response) => response.writeHead(200, STREAM).end(bytes));
      expect(await catchProviderError(ask(server.url))).toMatchObject({
        fault: "network",
        message: expect.stringContaining("ended before"),
      });
    }
  });

  test("a page in place of the first frame is detected at once", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).write("<html><body>Sign in"));
    expect(await catchProviderError(ask(server.url))).toMatchObject({
      fault: "network",
      message: expect.stringContaining("damaged frame"),
    });
    await server.waitUntilClosed();
  });

  test("an exception in mid-stream contains its request id, and the connection is closed", async () => {
    const bytes = Buffer.concat([
      encodeStream(BEGUN),
      encodeException("throttlingException", { message: "slow down" }),
    ]);
    const server = await serve((response) =>
      response.writeHead(200, { ...STREAM, "x-amzn-requestid": "r-1" }).write(bytes),
    );
    expect(await catchProviderError(ask(server.url))).toMatchObject({
      fault: "rate-limited",
      requestId: "r-1",
      message: expect.stringContaining("slow down (throttlingException, request id r-1)"),
    });
    await server.waitUntilClosed();
  });

  test("silence in mid-stream, and a cancellation there, end the request", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).write(encodeStream(BEGUN)));
    expect((await catchProviderError(ask(server.url, { bodyTimeoutMs: 50 }))).message).toContain(
      "silent for 50 ms",
    );
    const controller = new AbortController();
    const cancelled = ask(server.url, { signal: controller.signal, onDelta: () => controller.abort() });
    expect((await catchProviderError(cancelled)).fault).toBe("cancelled");
    await server.waitUntilClosed();
  });
});

describe("an unbounded answer", () => {
  const LIMIT = 8 * 1024 * 1024;
  const PIECE = "ü".repeat(50_000);
  const delta = (fields: object): Events => [{ contentBlockDelta: { contentBlockIndex: 0, delta: fields } }];
  const begin = (start: object): Events => [{ contentBlockStart: { contentBlockIndex: 0, start } }];
  const endless: Record<string, readonly [Events, Events]> = {
    "its text": [[], delta({ text: PIECE })],
    "its reasoning": [[], delta({ reasoningContent: { text: PIECE } })],
    "its signatures": [[], delta({ reasoningContent: { signature: PIECE } })],
    "its encrypted reasoning": [[], delta({ reasoningContent: { redactedContent: "QUJD".repeat(20_000) } })],
    "the arguments of a call": [
      begin({ toolUse: { toolUseId: "t", name: "a" } }),
      delta({ toolUse: { input: PIECE } }),
    ],
    "a result of the vendor's own tool": [
      begin({ toolResult: { toolUseId: "t" } }),
      delta({ toolResult: [{ text: PIECE }] }),
    ],
    "its empty blocks": [
      [],
      Array.from({ length: 100 }, () => [
        ...delta({ text: "a" }),
        { contentBlockStop: { contentBlockIndex: 0 } },
      ]).flat(),
    ],
  };

  test.each(Object.entries(endless))(
    "is ended at the limit by %s, and its connection is closed",
    async (_name, [first, more]) => {
      const server = await serve((response) => {
        const piece = encodeStream(more);
        const next = () => response.write(piece, (error) => error ?? setImmediate(next));
        response.writeHead(200, STREAM).write(encodeStream([...head, ...first]));
        next();
      });
      const error = await catchProviderError(ask(server.url));
      expect([error.fault, error.message]).toEqual(["api", expect.stringContaining(`the limit is ${LIMIT}`)]);
      await server.waitUntilClosed();
    },
  );

  test("is rejected for the number of its calls", () => {
    const calls = Array.from({ length: 257 }, (_, index) => call(index, `t${index}`, "{}")).flat();
    expect(faultOfPlay(() => readFrames([encodeStream([...head, ...calls])]))).toBe("api");
  });

  test("is rejected when the length of its frame is known", () => {
    const small = encodeEvent("contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { text: "x".repeat(17 * 1024 * 1024) },
    });
    expect(faultOfPlay(() => new FrameReader(plainVendor).read(small.subarray(0, 12)))).toBe("api");
    expect(faultOfPlay(() => new FrameReader(plainVendor).read(small.subarray(0, 11)))).toBe("none");
  });

  test("in a frame of many slices costs linear time", () => {
    const bytes = encodeStream([...delta({ text: "x".repeat(4 * 1024 * 1024) }), ...createTail("end_turn")]);
    const slices = Array.from({ length: Math.ceil(bytes.length / 64) }, (_, index) =>
      bytes.subarray(index * 64, index * 64 + 64),
    );
    const spentMs = cpuMs(() => {
      expect(words(readFrames(slices).message)).toHaveLength(4 * 1024 * 1024);
    });
    expect(spentMs).toBeLessThan(2000);
  });
});

test("names of properties that every JavaScript object has are ordinary: of an exception, of an image's type", async () => {
  const server = await serve((response) => response.writeHead(200, STREAM).end(WHOLE));
  const odd: Content = { type: "image", data: "aGk=", mimeType: "constructor" };
  await ask(server.url, { request: { messages: [{ role: "user", content: [odd], timestamp: 1 }] } });
  expect(JSON.parse(server.received[0]?.body ?? "").messages[0].content).toEqual([
    { text: "(An image of type constructor is omitted.)" },
  ]);
  const thrown = () => readFrames([encodeException("constructor", { message: "no" })]);
  expect(thrown).toThrow(/no/);
  expect(faultOfPlay(thrown)).toBe("api");
});

test("any frame gives an answer or a fault", () => {
  const names = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "novelty",
  ];
  const leaves = [null, 0, -1, 1.5, "", "x", "{", true, [], {}, "tool_use", "QUJD"];
  const keys = [
    "contentBlockIndex",
    "delta",
    "start",
    "text",
    "toolUse",
    "input",
    "toolUseId",
    "name",
    "type",
    "reasoningContent",
    "signature",
    "redactedContent",
    "toolResult",
    "stopReason",
    "usage",
    "inputTokens",
    "serviceTier",
  ];
  let state = 7;
  const pick = <Item>(items: readonly Item[]): Item => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return items[state % items.length] as Item;
  };
  const value = (depth: number): unknown =>
    depth === 0
      ? pick(leaves)
      : Object.fromEntries([pick(keys), pick(keys), pick(keys)].map((key) => [key, value(depth - 1)]));
  const outcomes = new Map<string, number>();
  for (let run = 0; run < 3000; run += 1) {
    const events = Array.from({ length: 6 }, () => ({ [pick(names)]: value(pick([0, 1, 2, 3])) }));
    const outcome = faultOfPlay(() => readFrames(sliceRandomly(encodeStream(events), run + 1, 60)));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].sort()).toEqual(["network", "none"]);
});
