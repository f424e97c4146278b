import { Readable } from "node:stream";
import {
  BedrockRuntimeClient,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { ConverseAssembler } from "../../src/models/bedrock-converse/converse-assembler.ts";
import { FrameReader } from "../../src/models/bedrock-converse/frame-reader.ts";
import type { StreamReader } from "../../src/models/stream-format.ts";
import { context, plainVendor, type ReadAnswer } from "./answer-reader.ts";

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8")),
  (text) => Buffer.from(text, "utf8"),
);

/** One frame as Amazon sends it. */
export function encodeFrame(headers: Readonly<Record<string, string>>, body: unknown): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]);
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8");
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body: bytes }));
}

export function encodeEvent(type: string, body: unknown): Buffer {
  return encodeFrame(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    body,
  );
}

/** A frame with its body replaced. */
export function rewriteFrame(bytes: Uint8Array, rewrite: (body: unknown) => unknown): Buffer {
  const { headers, body } = codec.decode(bytes);
  const rewritten = JSON.stringify(rewrite(JSON.parse(Buffer.from(body).toString("utf8"))));
  return Buffer.from(codec.encode({ headers, body: Buffer.from(rewritten, "utf8") }));
}

export function encodeException(type: string, body: unknown): Buffer {
  return encodeFrame(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    body,
  );
}

/** Events as the SDK names them: `{ messageStop: { … } }`. */
export type Events = readonly Readonly<Record<string, unknown>>[];

export function encodeStream(events: Events): Buffer {
  return Buffer.concat(
    events.flatMap((event) => Object.entries(event).map(([type, body]) => encodeEvent(type, body))),
  );
}

export const text = (contentBlockIndex: number, ...pieces: string[]): Events => [
  ...pieces.map((piece) => ({ contentBlockDelta: { contentBlockIndex, delta: { text: piece } } })),
  { contentBlockStop: { contentBlockIndex } },
];
export const reasoning = (contentBlockIndex: number, ...deltas: object[]): Events => [
  ...deltas.map((delta) => ({
    contentBlockDelta: { contentBlockIndex, delta: { reasoningContent: delta } },
  })),
  { contentBlockStop: { contentBlockIndex } },
];
export const call = (contentBlockIndex: number, toolUseId: string, ...pieces: string[]): Events => [
  { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name: "read_file" } } } },
  ...pieces.map((input) => ({ contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input } } } })),
  { contentBlockStop: { contentBlockIndex } },
];
export const head: Events = [{ messageStart: { role: "assistant" } }];
export const createTail = (stopReason: string, metadata: object = {}): Events => [
  { messageStop: { stopReason } },
  {
    metadata: {
      usage: { inputTokens: 12, outputTokens: 40, totalTokens: 52 },
      metrics: { latencyMs: 5 },
      ...metadata,
    },
  },
];

/** Reads bytes with the reader and the assembler, without a network. */
export function readFrames(
  slices: readonly Uint8Array[],
  reader: StreamReader = new FrameReader(plainVendor),
): ReadAnswer {
  const assembler = new ConverseAssembler(context);
  const deltas = slices.flatMap((slice) => reader.read(slice).flatMap((event) => assembler.push(event)));
  return { message: assembler.finish(), deltas };
}

export type SdkRequest = {
  readonly method: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
};

type SdkOptions = ConstructorParameters<typeof BedrockRuntimeClient>[0];

/** Amazon's own client, whose requests go to `answer` instead of the network. */
export function createSdkClient(
  answer: (request: SdkRequest) => {
    status?: number;
    headers?: Record<string, string>;
    bytes: readonly Uint8Array[];
  },
  options: SdkOptions = {},
): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
    maxAttempts: 1,
    requestHandler: {
      metadata: { handlerProtocol: "http/1.1" },
      handle: async (request: SdkRequest) => {
        const { status = 200, headers = {}, bytes } = answer(request);
        const body = Readable.from(
          bytes.map((part) => Buffer.from(part)),
          { objectMode: false },
        );
        return { response: { statusCode: status, headers, body } };
      },
    } as never,
    ...options,
  });
}

/** The events that the SDK reads; throws what the SDK throws. */
export async function readSdkEvents(slices: readonly Uint8Array[]): Promise<ConverseStreamOutput[]> {
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  const input: ConverseStreamCommandInput = { modelId: "m", messages: [] };
  const answer = await createSdkClient(() => ({ headers, bytes: slices })).send(
    new ConverseStreamCommand(input),
  );
  const events: ConverseStreamOutput[] = [];
  for await (const event of answer.stream ?? []) events.push(event);
  return events;
}
