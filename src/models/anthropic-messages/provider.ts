import type { AssistantMessage } from "../../schema/message.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import { INTERLEAVED } from "../claude-thinking.ts";
import { endpoint } from "../endpoint.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import { canGoOn, joined, MAX_CONTINUATIONS, shifted } from "./continuation.ts";
import { outputRoad } from "./output.ts";
import { anthropicRequest } from "./request.ts";
import { AnthropicAssembler } from "./stream.ts";

const API_VERSION = "2023-06-01";

/** The Messages API of Anthropic, and of servers that imitate it (PROV-08). */
export class AnthropicMessages implements Provider {
  readonly id = "anthropic";
  readonly protocol = "anthropic_messages";
  readonly outputRoad = outputRoad;
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    const most = this.#adapter.maxContinuations ?? MAX_CONTINUATIONS;
    let { message, paused } = await this.#part(request, options, undefined);
    for (let asked = 0; paused && asked < most && canGoOn(message); asked += 1) {
      const more = await this.#part(request, options, message);
      message = joined(message, more.message);
      paused = more.paused;
    }
    return message;
  }

  /** One question, and one answer or a part of it. */
  async #part(
    request: ModelRequest,
    options: StreamOptions,
    before: AssistantMessage | undefined,
  ): Promise<{ readonly message: AssistantMessage; readonly paused: boolean }> {
    let assembler: AnthropicAssembler | undefined;
    const message = await ask(this.#adapter, request, shifted(options, before), () => {
      const key = keyOf(request);
      const body = anthropicRequest(request, before);
      const betweenTools = request.model.thinkingBetweenTools && body.thinking?.type === "enabled";
      return {
        url: endpoint(request.model.baseUrl, "/messages", "/v1", true),
        headers: {
          "anthropic-version": API_VERSION,
          ...(key !== undefined && { "x-api-key": key }),
          ...(betweenTools && { "anthropic-beta": INTERLEAVED }),
        },
        body,
        assemble: (context) => {
          assembler = new AnthropicAssembler(context);
          return assembler;
        },
      };
    });
    return { message, paused: assembler?.paused ?? false };
  }
}
