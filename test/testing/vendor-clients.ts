import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach } from "vitest";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../src/testing/model-server/server.ts";

const running: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** Stopped after the test. */
export async function startServer(options: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options);
  running.push(server);
  return server;
}

export function createAnthropic(server: ModelServer, timeout = 10_000): Anthropic {
  return new Anthropic({ baseURL: server.anthropicBaseUrl, apiKey: "sk-ant-secret", maxRetries: 0, timeout });
}

export function createOpenAi(server: ModelServer, timeout = 10_000): OpenAI {
  return new OpenAI({ baseURL: server.openaiBaseUrl, apiKey: "sk-secret", maxRetries: 0, timeout });
}

export function createAnthropicRequest(text = "hello"): Anthropic.MessageCreateParamsNonStreaming {
  return { model: "claude-test", max_tokens: 1024, messages: [{ role: "user", content: text }] };
}

export function createOpenAiRequest(text = "hello"): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return { model: "gpt-test", messages: [{ role: "user", content: text }] };
}

export function streamOpenAi(server: ModelServer, text = "hello") {
  return createOpenAi(server).chat.completions.stream({
    ...createOpenAiRequest(text),
    stream: true,
    stream_options: { include_usage: true },
  });
}

/** Returns what the promise rejects with; fails if it resolves. */
export async function catchFailure(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("It did not fail");
}
