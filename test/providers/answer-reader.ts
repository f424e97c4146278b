import type { AnswerContext, Assembler } from "../../src/models/assembler.ts";
import { HttpClient, type HttpClientOptions } from "../../src/models/http-client.ts";
import type { ModelDelta, ModelRequest } from "../../src/models/provider.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import type { Vendor } from "../../src/models/provider-error-from-response.ts";
import { SseReader } from "../../src/models/sse-reader.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import type { ModelConfig } from "../../src/schema/model.ts";

export const plainVendor: Vendor = { name: "vendor", mask: (text) => text, retryServerErrors: false };

export const context: AnswerContext = { model: "m", provider: "vendor", timestamp: 7, vendor: plainVendor };

export type ReadAnswer = { readonly message: AssistantMessage; readonly deltas: readonly ModelDelta[] };

/** Reads bytes with the reader and the assembler, without a network. */
export function readAnswer(
  make: (context: AnswerContext) => Assembler,
  slices: readonly Uint8Array[],
): ReadAnswer {
  const reader = new SseReader();
  const assembler = make(context);
  const deltas = slices.flatMap((slice) => reader.read(slice).flatMap((event) => assembler.push(event)));
  deltas.push(...reader.end().flatMap((event) => assembler.push(event)));
  return { message: assembler.finish(), deltas };
}

/** The sum of the deltas, block by block: must equal the content of the message. */
export function joinDeltas(deltas: readonly ModelDelta[]): string[] {
  const blocks: string[] = [];
  for (const { type, index, delta } of deltas) blocks[index] = (blocks[index] ?? `${type}:`) + delta;
  return blocks;
}

export function encodeSse(events: readonly unknown[], hasEventNames = true): Buffer {
  const lines = events.map((event) => {
    const name = hasEventNames ? `event: ${(event as { type: string }).type}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  });
  return Buffer.from(lines.join(""), "utf8");
}

export function createRequest(model: ModelConfig, overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model,
    apiKey: "test-key-0123456789",
    systemPrompt: "",
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }], timestamp: 1 }],
    tools: [],
    thinking: "off",
    cache: { enabled: false, strategy: "auto" },
    ...overrides,
  };
}

/** Connection pools for tests; a limit that a test does not shorten is long. */
export function createHttp(options: HttpClientOptions = {}): HttpClient {
  return new HttpClient({ firstByteTimeoutMs: 20_000, bodyTimeoutMs: 20_000, ...options });
}

export async function catchProviderError(promise: Promise<unknown>): Promise<ProviderError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw new Error("expected a ProviderError", { cause: error });
  }
  throw new Error("expected a ProviderError, but it resolved");
}
