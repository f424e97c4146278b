import type { AssistantMessage } from "../../schema/message.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import { endpoint } from "../endpoint.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import { anthropicRequest } from "./request.ts";
import { AnthropicAssembler } from "./stream.ts";

const API_VERSION = "2023-06-01";

/** The Messages API of Anthropic, and of servers that imitate it (PROV-08). */
export class AnthropicMessages implements Provider {
  readonly id = "anthropic";
  readonly protocol = "anthropic_messages";
  readonly outputRoad = () => "final-tool" as const;
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await ask(this.#adapter, request, options, () => {
      const key = keyOf(request);
      return {
        url: endpoint(request.model.baseUrl, "/messages", "/v1", true),
        headers: { "anthropic-version": API_VERSION, ...(key !== undefined && { "x-api-key": key }) },
        body: anthropicRequest(request),
        assemble: (context) => new AnthropicAssembler(context),
      };
    });
  }
}
