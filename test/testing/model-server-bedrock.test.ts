import { Readable } from "node:stream";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { request } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { bedrock } from "../../src/config/vendor-models.ts";
import { BedrockConverse } from "../../src/models/bedrock-converse/bedrock-converse.ts";
import { FrameReader } from "../../src/models/bedrock-converse/frame-reader.ts";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import type { ModelServer } from "../../src/testing/model-server/server.ts";
import { catchProviderError, createHttp, createRequest, plainVendor } from "../providers/answer-reader.ts";
import { bedrockStreams } from "../support/recordings.ts";
import { startServer } from "./vendor-clients.ts";

const pool = createHttp();
afterAll(async () => await pool.close());
const signal = new AbortController().signal;
const MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const KEY = "AKIDEXAMPLE:secret/of+key:session==";

const REPLY: Reply = {
  thinking: { text: "The user greets me. 😀", signature: "sig==" },
  text: "Hello, wörld 😀. I look.",
  toolCalls: [
    { name: "read_file", arguments: { path: "a.txt", deep: [1, { two: "ü" }] } },
    { id: "tooluse_mine", name: "list_files" },
  ],
  usage: { input: 120, output: 45, cacheRead: 1000, cacheWrite: 30 },
  chunkSize: 7,
};

/** Amazon's own client over a real connection. */
function client(server: ModelServer): BedrockRuntimeClient {
  const [accessKeyId = "", secretAccessKey = "", sessionToken = ""] = KEY.split(":");
  type Sent = { method: "POST"; path: string; headers: Record<string, string>; body: Uint8Array | string };
  const handle = async ({ method, path, headers, body }: Sent) => {
    const bytes = Buffer.from(body as Uint8Array);
    const answer = await request(server.url + path, { method, headers, body: bytes });
    const read = Buffer.from(await answer.body.arrayBuffer());
    const whole = Readable.from([read], { objectMode: false });
    return { response: { statusCode: answer.statusCode, headers: answer.headers, body: whole } };
  };
  return new BedrockRuntimeClient({
    region: "us-east-1",
    endpoint: server.bedrockBaseUrl,
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    maxAttempts: 1,
    requestHandler: { metadata: { handlerProtocol: "http/1.1" }, handle } as never,
  });
}

const hello = { modelId: MODEL, messages: [{ role: "user" as const, content: [{ text: "hello" }] }] };

async function events(server: ModelServer): Promise<ConverseStreamOutput[]> {
  const { stream } = await client(server).send(new ConverseStreamCommand(hello));
  const all: ConverseStreamOutput[] = [];
  for await (const event of stream ?? []) all.push(event);
  return all;
}

async function ask(server: ModelServer, apiKey = KEY) {
  const model = bedrock(MODEL, { baseUrl: server.bedrockBaseUrl });
  return await new BedrockConverse({ http: pool }).stream(createRequest(model, { apiKey }), { signal });
}

describe("Bedrock, as Amazon's client and our adapter read it [PROV-23, PROV-25.1]", () => {
  test("returns the script as a stream", async () => {
    const server = await startServer({ replies: [REPLY], apiKey: KEY });
    const all = await events(server);
    const join = (read: (event: ConverseStreamOutput) => string | undefined) =>
      all.map((event) => read(event) ?? "").join("");
    expect(join((event) => event.contentBlockDelta?.delta?.text)).toBe(REPLY.text);
    expect(join((event) => event.contentBlockDelta?.delta?.reasoningContent?.text)).toBe(
      "The user greets me. 😀",
    );
    expect(all.at(-2)?.messageStop?.stopReason).toBe("tool_use");
    expect(all.at(-1)?.metadata?.usage).toMatchObject({
      inputTokens: 120,
      outputTokens: 45,
      cacheReadInputTokens: 1000,
      cacheWriteInputTokens: 30,
    });
    expect(await ask(server)).toMatchObject({
      content: [
        { type: "thinking", thinking: "The user greets me. 😀", signature: "sig==" },
        { type: "text", text: REPLY.text },
        {
          type: "toolCall",
          id: expect.stringMatching(/^tooluse_\w{22}$/),
          name: "read_file",
          arguments: { path: "a.txt", deep: [1, { two: "ü" }] },
        },
        { type: "toolCall", id: "tooluse_mine", name: "list_files", arguments: {} },
      ],
      stopReason: "toolUse",
      usage: { input: 120, output: 45, cacheRead: 1000, cacheWrite: 30, totalTokens: 1195 },
      responseId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-/),
    });
  });

  test("returns the script in one response", async () => {
    const server = await startServer({ replies: [REPLY] });
    const { output, stopReason } = await client(server).send(new ConverseCommand(hello));
    expect(stopReason).toBe("tool_use");
    expect(output?.message?.content?.[3]?.toolUse).toEqual({
      toolUseId: "tooluse_mine",
      name: "list_files",
      input: {},
    });
  });

  test("rejects a signature of another key, and a bearer key in its place [X-26.1]", async () => {
    const server = await startServer({ replies: [REPLY], apiKey: KEY });
    for (const key of ["AKIDEXAMPLE:other", KEY.replace("secret", "Secret"), `${KEY}x`, "bearer-key"]) {
      const error = await catchProviderError(ask(server, key));
      expect([error.fault, error.vendorType]).toEqual(["auth", "UnrecognizedClientException"]);
    }
    const bearer = await startServer({ replies: [REPLY], apiKey: "bearer-key" });
    expect((await ask(bearer, "bearer-key")).stopReason).toBe("toolUse");
    expect((await catchProviderError(ask(bearer, "bearer-kex"))).fault).toBe("auth");
  });

  test.each([
    [
      { fault: "rate-limited", retryAfterSeconds: 2 },
      { fault: "rate-limited", retryAfterMs: 2000 },
      "ThrottlingException",
    ],
    [{ fault: "overloaded" }, { fault: "rate-limited", status: 503 }, "ServiceUnavailableException"],
    [{ fault: "server-error" }, { fault: "api", status: 500 }, "InternalServerException"],
    [{ fault: "overflow" }, { fault: "overflow" }, "ValidationException"],
    [{ fault: "mid-stream-error" }, { fault: "rate-limited" }, "ThrottlingException"],
    [
      { fault: "mid-stream-error", type: "validationException", message: "Input is too long" },
      { fault: "overflow" },
      "ValidationException",
    ],
    [{ fault: "malformed" }, { fault: "network" }, "SyntaxError"],
    [{ fault: "cut", afterBytes: 200, clean: true }, { fault: "network" }, undefined],
  ] as const)("%j", async (fault, ours, theirs) => {
    const server = await startServer({ faults: [{ ...fault, times: 2 }], replies: [REPLY] });
    expect(await catchProviderError(ask(server))).toMatchObject(ours);
    const error = await events(server).then(
      (all) => (all.some(({ messageStop }) => messageStop !== undefined) ? "whole" : undefined),
      ({ name }: Error) => name,
    );
    if (theirs === undefined) expect(error).not.toBe("whole");
    else expect(error).toBe(theirs);
  });
});

const user = (...content: object[]) => ({ role: "user", content });
const said = (...content: object[]) => ({ role: "assistant", content });
const use = { toolUse: { toolUseId: "t1", name: "a", input: {} } };
const result = { toolResult: { toolUseId: "t1", content: [{ text: "x" }] } };
const hi = user({ text: "hi" });

test.each([
  [{ messages: [] }, /must start with a user message/],
  [{ messages: [said({ text: "a" })] }, /must start with a user message/],
  [{ messages: [hi, hi] }, /must alternate/],
  [{ messages: [user({ text: " " })] }, /text field .* messages.0.content.0 is blank/],
  [{ messages: [user()] }, /content field .* is empty/],
  [{ messages: [hi, said(use), hi] }, /Expected toolResult blocks at messages.2.content .* t1/],
  [{ messages: [hi, said(use)] }, /Expected toolResult blocks/],
  [{ messages: [user(result)] }, /exceeds the number of toolUse blocks/],
  [{ messages: [hi, said(use), user(result)] }, /toolConfig field must be defined/],
  [{ messages: [hi, said({ toolUse: { ...use.toolUse, name: "a b" } }), user(result)] }, /validation error/],
  [
    { messages: [hi, said({ toolUse: { ...use.toolUse, input: "x" } }), user(result)] },
    /invalid. Provide a json object/,
  ],
])("rejects what Bedrock would reject: %j", async (body, message) => {
  const server = await startServer({});
  const answer = await fetch(`${server.url}/model/m/converse-stream`, {
    method: "POST",
    headers: { authorization: "Bearer k" },
    body: JSON.stringify(body),
  });
  expect([answer.status, answer.headers.get("x-amzn-errortype")]).toEqual([
    400,
    expect.stringContaining("ValidationException"),
  ]);
  expect((await answer.json()) as { message: string }).toEqual({ message: expect.stringMatching(message) });
});

test("our events have the fields of the recorded ones", async () => {
  const shape = (bytes: Uint8Array) =>
    new Map(
      new FrameReader(plainVendor).read(bytes).map(({ event, data }) => {
        const fields = JSON.parse(data) as Record<string, object>;
        const kind = Object.keys(fields["delta"] ?? fields["start"] ?? {});
        return [`${event} ${kind.join()}`, Object.keys(fields).sort()];
      }),
    );
  const server = await startServer({
    replies: [{ thinking: "hm", text: "hi", toolCalls: [{ name: "a", arguments: { b: 1 } }] }],
  });
  const answer = await fetch(`${server.url}/model/m/converse-stream`, {
    method: "POST",
    headers: { authorization: "Bearer k" },
    body: JSON.stringify({ messages: [hi] }),
  });
  const mine = shape(Buffer.from(await answer.arrayBuffer()));
  for (const { bytes } of bedrockStreams)
    for (const [event, fields] of shape(bytes)) expect([event, mine.get(event)]).toEqual([event, fields]);
});
