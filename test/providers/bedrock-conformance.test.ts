import {
  BedrockRuntimeServiceException,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { afterAll, describe, expect, test } from "vitest";
import { bedrock } from "../../src/config/vendor-models.ts";
import { BedrockConverse } from "../../src/models/bedrock-converse/bedrock-converse.ts";
import { ProviderError, type ProviderFault } from "../../src/models/provider-error.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import {
  bedrockErrors,
  bedrockStreams,
  hasMoreRecordings,
  NO_MORE_RECORDINGS,
} from "../support/recordings.ts";
import { testIf } from "../support/skipping.ts";
import { catchProviderError, createHttp, createRequest, joinDeltas } from "./answer-reader.ts";
import {
  call,
  createSdkClient,
  createTail,
  type Events,
  encodeEvent,
  encodeException,
  encodeFrame,
  encodeStream,
  head,
  readFrames,
  readSdkEvents,
  reasoning,
  text,
} from "./bedrock-stream.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { sliceBytes, sliceRandomly } from "./slices.ts";

const pool = createHttp();
afterAll(async () => await pool.close());
const signal = new AbortController().signal;

const REASONS: Record<string, string> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  guardrail_intervened: "guardRail",
  content_filtered: "guardRail",
};

/** The sum of the SDK's events, in our types. */
function translated(events: readonly ConverseStreamOutput[]) {
  type Block = {
    text?: string;
    thought?: string;
    signature?: string;
    redacted?: Uint8Array[];
    id?: string;
    name?: string;
    input?: string;
  };
  const blocks = new Map<number, Block>();
  const at = (index = 0): Block => {
    const block = blocks.get(index) ?? {};
    blocks.set(index, block);
    return block;
  };
  let stop: string | undefined;
  let usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  let tier: string | undefined;
  for (const event of events) {
    if (event.contentBlockStart?.start?.toolUse !== undefined) {
      const { toolUseId, name } = event.contentBlockStart.start.toolUse;
      Object.assign(at(event.contentBlockStart.contentBlockIndex), { id: toolUseId, name, input: "" });
    }
    const delta = event.contentBlockDelta?.delta;
    const block = delta === undefined ? {} : at(event.contentBlockDelta?.contentBlockIndex);
    if (delta?.text !== undefined) block.text = (block.text ?? "") + delta.text;
    if (delta?.toolUse !== undefined) block.input = (block.input ?? "") + delta.toolUse.input;
    const thought = delta?.reasoningContent;
    if (thought?.text !== undefined) block.thought = (block.thought ?? "") + thought.text;
    if (thought?.signature !== undefined) block.signature = (block.signature ?? "") + thought.signature;
    if (thought?.redactedContent !== undefined)
      block.redacted = [...(block.redacted ?? []), thought.redactedContent];
    stop = event.messageStop?.stopReason ?? stop;
    tier = event.metadata?.serviceTier?.type ?? tier;
    const counted = event.metadata?.usage;
    if (counted !== undefined) {
      usage = {
        input: counted.inputTokens ?? 0,
        output: counted.outputTokens ?? 0,
        reasoning: 0,
        cacheRead: counted.cacheReadInputTokens ?? 0,
        cacheWrite: counted.cacheWriteInputTokens ?? 0,
        totalTokens: counted.totalTokens ?? 0,
      };
    }
  }
  const content = [...blocks.values()].flatMap((block): unknown[] => {
    if (block.id !== undefined)
      return [{ type: "toolCall", id: block.id, name: block.name, arguments: parsed(block.input ?? "") }];
    if (block.redacted !== undefined) {
      const signature = Buffer.concat(block.redacted).toString("base64");
      return [{ type: "thinking", thinking: "", signature, redacted: true }];
    }
    if (block.thought !== undefined || block.signature !== undefined) {
      const signature = block.signature === undefined ? {} : { signature: block.signature };
      return [{ type: "thinking", thinking: block.thought ?? "", ...signature }];
    }
    return block.text === undefined || block.text === "" ? [] : [{ type: "text", text: block.text }];
  });
  const serviceTier = tier === undefined || tier === "default" ? {} : { serviceTier: tier };
  return { content, stopReason: REASONS[stop ?? ""], usage, ...serviceTier };
}

function parsed(input: string): unknown {
  if (input === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function ours({ content, stopReason, usage, serviceTier }: AssistantMessage) {
  return { content, stopReason, usage, ...(serviceTier !== undefined && { serviceTier }) };
}

function expectDeltasToAddUp(bytes: Uint8Array): void {
  const { message, deltas } = readFrames([bytes]);
  const blocks = joinDeltas(deltas);
  for (const [index, part] of message.content.entries()) {
    if (part.type === "text") expect(blocks[index]).toBe(`text:${part.text}`);
    if (part.type === "thinking" && part.thinking !== "")
      expect(blocks[index]).toBe(`thinking:${part.thinking}`);
    if (part.type === "toolCall")
      expect(parsed(blocks[index]!.slice("toolCall:".length))).toEqual(part.arguments);
  }
}

async function expectSame(bytes: Uint8Array, seeds: number): Promise<void> {
  const expected = translated(await readSdkEvents([bytes]));
  expect(ours(readFrames([bytes]).message)).toEqual(expected);
  expect(ours(readFrames(sliceBytes(bytes)).message)).toEqual(expected);
  for (let seed = 1; seed <= seeds; seed += 1) {
    const slices = sliceRandomly(bytes, seed, 300);
    expect(ours(readFrames(slices).message)).toEqual(expected);
  }
  expect(translated(await readSdkEvents(sliceRandomly(bytes, 9, 300)))).toEqual(expected);
  expectDeltasToAddUp(bytes);
}

function outcome(bytes: Uint8Array): AssistantMessage | ProviderError {
  try {
    return readFrames([bytes]).message;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

/** The end of the stop frame: what follows it may be lost. */
function endOfStop(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.subarray(at, at + length).toString("latin1");
    at += length;
    if (name.includes("messageStop")) return at;
  }
  return at;
}

const MOST_PLACES = 1500;

/** Positions at this interval; fewer in a long recording, since each position requires a reading of the whole. */
function placesIn(length: number, step: number): readonly number[] {
  const steps = Math.max(step, Math.ceil(length / MOST_PLACES) | 1);
  return Array.from({ length: Math.ceil(length / steps) }, (_, index) => index * steps);
}

describe("recorded replies of Bedrock [PROV-25.1]", () => {
  testIf(hasMoreRecordings, NO_MORE_RECORDINGS)("there are many", () => {
    expect(bedrockStreams.length).toBeGreaterThanOrEqual(3);
    expect(bedrockErrors.length).toBeGreaterThanOrEqual(8);
  });

  test.each(bedrockStreams)("$file: same as the SDK, in slices of every size", async ({ bytes }) => {
    await expectSame(bytes, 8);
  });

  test.each(bedrockStreams)("$file: same over HTTP", async ({ bytes, ct }) => {
    const expected = translated(await readSdkEvents([bytes]));
    for (const slices of [[bytes], sliceRandomly(bytes, 3, 2000), sliceBytes(bytes)]) {
      const server = await LoopbackServer.start(async (response) => {
        response.writeHead(200, { "content-type": ct, "x-amzn-requestid": "req-1" });
        await writeSlices(response, slices);
      });
      const request = createRequest(bedrock("amazon.nova-micro-v1:0", { baseUrl: server.url }));
      const message = await new BedrockConverse({ http: pool }).stream(request, { signal });
      expect(ours(message)).toEqual(expected);
      expect(message.responseId).toBe("req-1");
      await server.stop();
    }
  });

  test.each(bedrockStreams)("$file: cut off anywhere, it is complete or broken", async ({ bytes }) => {
    const whole = ours(readFrames([bytes]).message);
    const stopped = endOfStop(bytes);
    for (const at of placesIn(bytes.length, 7)) {
      const got = outcome(bytes.subarray(0, at));
      if (got instanceof ProviderError) expect([at < stopped, got.fault]).toEqual([true, "network"]);
      else expect([at >= stopped, got.content]).toEqual([true, whole.content]);
    }
  });

  test.each(bedrockStreams)("$file: no damaged byte is accepted, by us or by the SDK", async ({ bytes }) => {
    const stopped = endOfStop(bytes);
    for (const [which, at] of placesIn(stopped, 11).entries()) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at]! ^ (1 + (at % 255))) & 0xff;
      const got = outcome(damaged);
      expect([at, (got as ProviderError).fault]).toEqual([at, "network"]);
      if (which % 5 === 0) await expect(readSdkEvents([damaged])).rejects.toThrow();
    }
  });

  test.each(bedrockErrors)("$file: the same error as the SDK's", async ({ bytes, status, ct }) => {
    const type = "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/";
    const headers = { "content-type": ct, "x-amzn-requestid": "req-2", "x-amzn-errortype": type };
    const theirs = await createSdkClient(() => ({ status, headers, bytes: [bytes] }))
      .send(new ConverseStreamCommand({ modelId: "m", messages: [] }))
      .catch((error: unknown) => error as BedrockRuntimeServiceException);
    const server = await LoopbackServer.start((response) => response.writeHead(status, headers).end(bytes));
    const request = createRequest(bedrock("m", { baseUrl: server.url }));
    const error = await catchProviderError(new BedrockConverse({ http: pool }).stream(request, { signal }));
    await server.stop();
    expect(theirs).toBeInstanceOf(BedrockRuntimeServiceException);
    if (!(theirs instanceof BedrockRuntimeServiceException)) return;
    expect(error.fault).toBe("api");
    expect(error.vendorType).toBe(theirs.name);
    expect(error.status).toBe(theirs.$metadata.httpStatusCode);
    expect(error.requestId).toBe(theirs.$metadata.requestId);
    expect(error.message).toContain(theirs.message.replace(/\s+/g, " "));
  });
});

// The recordings contain no reasoning and no error in mid-stream: these streams follow the SDK's types.
const BUILT: Record<string, Events> = {
  "fragments give one object": [
    ...head,
    ...call(0, "tooluse_1", "", '{"pa', 'th":"ä', "🌍", '","n":[1', ",2]}"),
    ...createTail("tool_use"),
  ],
  "no fragments give no arguments": [...head, ...call(0, "tooluse_1"), ...createTail("tool_use")],
  "arguments that are not JSON stay text": [
    ...head,
    ...call(0, "tooluse_1", "{oops"),
    ...createTail("tool_use"),
  ],
  "reasoning with its signature, text, two calls": [
    ...head,
    ...reasoning(0, { text: "hm" }, { text: ", so" }, { signature: "sig==" }),
    ...text(1, "I will", " read"),
    ...call(2, "tooluse_1", '{"path":"a"}'),
    ...call(3, "tooluse_2", '{"path":"b"}'),
    ...createTail("tool_use"),
  ],
  "reasoning whose text is omitted": [
    ...head,
    ...reasoning(0, { text: "" }, { signature: "sig==" }),
    ...text(1, "yes"),
    ...createTail("end_turn"),
  ],
  "reasoning without a signature": [
    ...head,
    ...reasoning(0, { text: "hm" }),
    ...text(1, "yes"),
    ...createTail("end_turn"),
  ],
  "encrypted reasoning, in two pieces": [
    ...head,
    ...reasoning(
      0,
      { redactedContent: Buffer.from("ab").toString("base64") },
      { redactedContent: Buffer.from("cde").toString("base64") },
    ),
    ...text(1, "yes"),
    ...createTail("end_turn"),
  ],
  "blocks that are interleaved": [
    ...head,
    { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: "t1", name: "a" } } } },
    { contentBlockStart: { contentBlockIndex: 2, start: { toolUse: { toolUseId: "t2", name: "b" } } } },
    { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: '{"b":' } } } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":' } } } },
    { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: "2}" } } } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: "1}" } } } },
    { contentBlockStop: { contentBlockIndex: 2 } },
    { contentBlockStop: { contentBlockIndex: 1 } },
    ...createTail("tool_use"),
  ],
  "an answer without content": [...head, ...createTail("end_turn")],
  "a start that says nothing": [
    ...head,
    { contentBlockStart: { contentBlockIndex: 0, start: {} } },
    ...text(0, "hi"),
    ...createTail("end_turn"),
  ],
  "unknown events and fields": [
    ...head,
    { somethingNew: { deep: [1] } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { hologram: "x" }, p: "abc" } },
    ...text(0, "hi"),
    ...createTail("end_turn", { novelty: true }),
  ],
  "what a cache gave and took, and a tier [CACHE-04]": [
    ...head,
    ...text(0, "hi"),
    ...createTail("end_turn", {
      usage: {
        inputTokens: 5,
        outputTokens: 7,
        totalTokens: 1212,
        cacheReadInputTokens: 1000,
        cacheWriteInputTokens: 200,
        cacheDetails: [{ ttl: "5m", inputTokens: 200 }],
      },
      serviceTier: { type: "flex" },
    }),
  ],
  ...Object.fromEntries(
    Object.keys(REASONS).map((reason) => [
      `stopped by ${reason} [PROV-07]`,
      [...head, ...(reason === "tool_use" ? call(0, "t", "{}") : text(0, "half")), ...createTail(reason)],
    ]),
  ),
};

describe("answers that follow the SDK's types [PROV-25.1]", () => {
  test.each(Object.entries(BUILT))("%s: same as the SDK", async (_name, events) => {
    await expectSame(encodeStream(events), 3);
  });

  test("a stop by a guardrail is reported as such", () => {
    const { message } = readFrames([
      encodeStream([...head, ...text(0, "Sorry"), ...createTail("guardrail_intervened")]),
    ]);
    expect(message.errorMessage).toMatch(/guardrail.*guardrail_intervened/);
  });

  test.each(["malformed_model_output", "malformed_tool_use"])(
    "%s is a network fault, which is retried",
    (reason) => {
      const got = outcome(encodeStream([...head, ...call(0, "t", "{"), ...createTail(reason)]));
      expect([(got as ProviderError).fault, (got as ProviderError).message]).toEqual([
        "network",
        expect.stringContaining(reason),
      ]);
    },
  );

  test("blocks of the vendor's own tools are stored as they are sent back, and are not calls to us", () => {
    const events: Events = [
      ...head,
      {
        contentBlockStart: {
          contentBlockIndex: 0,
          start: { toolUse: { toolUseId: "s1", name: "nova_grounding", type: "server_tool_use" } },
        },
      },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"q":"x"}' } } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      {
        contentBlockStart: {
          contentBlockIndex: 1,
          start: { toolResult: { toolUseId: "s1", type: "nova_grounding_result", status: "success" } },
        },
      },
      { contentBlockDelta: { contentBlockIndex: 1, delta: { toolResult: [{ text: "found" }] } } },
      { contentBlockStop: { contentBlockIndex: 1 } },
      ...text(2, "It is so"),
      { contentBlockDelta: { contentBlockIndex: 2, delta: { citation: { title: "t" } } } },
      ...createTail("end_turn"),
    ];
    const { message } = readFrames([encodeStream(events)]);
    expect(message.stopReason).toBe("stop");
    expect(message.content).toEqual([
      {
        type: "vendor",
        kind: "toolUse",
        data: {
          toolUse: { toolUseId: "s1", name: "nova_grounding", type: "server_tool_use", input: { q: "x" } },
        },
      },
      {
        type: "vendor",
        kind: "toolResult",
        data: {
          toolResult: {
            toolUseId: "s1",
            type: "nova_grounding_result",
            status: "success",
            content: [{ text: "found" }],
          },
        },
      },
      { type: "text", text: "It is so" },
    ]);
  });

  const typed = (type: unknown): Events => [
    {
      contentBlockStart: {
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: "t1", name: "look", type } },
      },
    },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"path":"."}' } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
  ];

  test.each(["tool_use", "function", "mcp_tool_use", ""])(
    "a tool use of the type %j is a call, since only the server's own have another form",
    (type) => {
      const { message } = readFrames([encodeStream([...head, ...typed(type), ...createTail("tool_use")])]);
      expect(message.stopReason).toBe("toolUse");
      expect(message.content).toEqual([
        { type: "toolCall", id: "t1", name: "look", arguments: { path: "." } },
      ]);
    },
  );

  test("a tool use of an unknown type that the vendor has answered itself is not a call to us", () => {
    const result = { toolUseId: "t1", type: "mcp_tool_result", status: "success" };
    const { message } = readFrames([
      encodeStream([
        ...head,
        ...typed("mcp_tool_use"),
        { contentBlockStart: { contentBlockIndex: 1, start: { toolResult: result } } },
        { contentBlockDelta: { contentBlockIndex: 1, delta: { toolResult: [{ text: "found" }] } } },
        { contentBlockStop: { contentBlockIndex: 1 } },
        ...text(2, "It is so"),
        ...createTail("end_turn"),
      ]),
    ]);
    expect(message.stopReason).toBe("stop");
    expect(message.content.map((part) => part.type)).toEqual(["vendor", "vendor", "text"]);
    expect(message.content[0]).toMatchObject({
      kind: "toolUse",
      data: { toolUse: { toolUseId: "t1", type: "mcp_tool_use", input: { path: "." } } },
    });
  });

  test("two calls with one id are two calls", () => {
    const { message } = readFrames([
      encodeStream([...head, ...call(0, "t", "{}"), ...call(1, "t", "{}"), ...createTail("tool_use")]),
    ]);
    expect(message.content.map((part) => part.type === "toolCall" && part.id)).toEqual(["t", "t_2"]);
  });
});

const EXCEPTIONS: readonly [string, object, ProviderFault][] = [
  ["throttlingException", { message: "Too many tokens, please wait before trying again." }, "rate-limited"],
  ["serviceUnavailableException", { message: "busy" }, "rate-limited"],
  ["internalServerException", { message: "oops" }, "api"],
  [
    "modelStreamErrorException",
    { message: "broke", originalStatusCode: 500, originalMessage: "inner" },
    "api",
  ],
  ["validationException", { message: "Input is too long for requested model." }, "overflow"],
  ["validationException", { message: "prompt is too long: 200049 tokens > 200000 maximum" }, "overflow"],
  [
    "validationException",
    { message: "Input Tokens Exceeded: Number of input tokens exceeds maximum length." },
    "overflow",
  ],
  ["validationException", { message: "no such field" }, "api"],
];

describe("errors in mid-stream [OVF-04.2]", () => {
  const begun = encodeStream([...head, ...text(0, "half an an")]);

  test.each(EXCEPTIONS)("%s %j is %s, and an error with that name in the SDK", async (name, body, fault) => {
    const bytes = Buffer.concat([begun, encodeException(name, body)]);
    const got = outcome(bytes) as ProviderError;
    expect([got.fault, got.vendorType]).toEqual([fault, name]);
    expect(got.message).toContain((body as { message: string }).message);
    await expect(readSdkEvents([bytes])).rejects.toMatchObject({
      name: name[0]!.toUpperCase() + name.slice(1),
      message: (body as { message: string }).message,
    });
  });

  test.each([
    ["modelTimeoutException", "api"],
    ["somethingNewException", "api"],
    ["accessDeniedException", "auth"],
  ] as const)("%s, which the SDK does not know in a stream, is %s", (name, fault) => {
    const got = outcome(Buffer.concat([begun, encodeException(name, { message: "no" })])) as ProviderError;
    expect([got.fault, got.vendorType]).toEqual([fault, name]);
  });

  test("an error frame is an API fault with its code", async () => {
    const bytes = Buffer.concat([
      begun,
      encodeFrame(
        { ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "down" },
        "",
      ),
    ]);
    const got = outcome(bytes) as ProviderError;
    expect([got.fault, got.vendorType]).toEqual(["api", "InternalFailure"]);
    expect(got.message).toContain("down");
    await expect(readSdkEvents([bytes])).rejects.toMatchObject({ name: "InternalFailure", message: "down" });
  });

  test("a frame without a type, and one whose event is not JSON, are network faults", async () => {
    for (const odd of [encodeFrame({ ":event-type": "messageStop" }, {}), encodeEvent("messageStop", "{")]) {
      const bytes = Buffer.concat([begun, odd]);
      expect((outcome(bytes) as ProviderError).fault).toBe("network");
      await expect(readSdkEvents([bytes])).rejects.toThrow();
    }
  });
});
