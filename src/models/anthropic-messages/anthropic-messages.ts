import type { AssistantMessage } from "../../schema/message.ts";
import { buildEndpoint } from "../build-endpoint.ts";
import { INTERLEAVED_THINKING_BETA } from "../claude-thinking-fields.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import { type AdapterOptions, requireKey, sendVendorRequest } from "../send-vendor-request.ts";
import { AnthropicAssembler } from "./anthropic-assembler.ts";
import { canContinue, joinAnswers, MAX_CONTINUATIONS, shiftDeltas } from "./continuation.ts";
import { selectOutputMode } from "./output-format.ts";
import { buildAnthropicRequest } from "./request.ts";

const API_VERSION = "2023-06-01";

/** The Messages API of Anthropic, and of servers that imitate it (PROV-08). */
export class AnthropicMessages implements Provider {
  readonly id = "anthropic";
  readonly protocol = "anthropic_messages";
  readonly selectOutputMode = selectOutputMode;
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    const maxContinuations = this.#adapter.maxContinuations ?? MAX_CONTINUATIONS;
    let { message, paused } = await this.#streamPart(request, options, undefined);
    for (
      let continuations = 0;
      paused && continuations < maxContinuations && canContinue(message);
      continuations += 1
    ) {
      const continuation = await this.#streamPart(request, options, message);
      message = joinAnswers(message, continuation.message);
      paused = continuation.paused;
    }
    return message;
  }

  /** Sends one request. Returns the answer or a part of it. */
  async #streamPart(
    request: ModelRequest,
    options: StreamOptions,
    before: AssistantMessage | undefined,
  ): Promise<{ readonly message: AssistantMessage; readonly paused: boolean }> {
    let assembler: AnthropicAssembler | undefined;
    const message = await sendVendorRequest(this.#adapter, request, shiftDeltas(options, before), () => {
      const key = requireKey(request);
      const body = buildAnthropicRequest(request, before);
      const betweenTools = request.model.thinkingBetweenTools && body.thinking?.type === "enabled";
      return {
        url: buildEndpoint(request.model.baseUrl, "/messages", "/v1", true),
        headers: {
          "anthropic-version": API_VERSION,
          ...(key !== undefined && { "x-api-key": key }),
          ...(betweenTools && { "anthropic-beta": INTERLEAVED_THINKING_BETA }),
        },
        body,
        createAssembler: (context) => {
          assembler = new AnthropicAssembler(context);
          return assembler;
        },
      };
    });
    return { message, paused: assembler?.isPaused ?? false };
  }
}
