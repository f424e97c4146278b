import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import { endpoint } from "../endpoint.ts";
import { openAiOutputRoad } from "../openai-output.ts";
import type { ModelRequest, OutputRoad, Provider, StreamOptions } from "../provider.ts";
import { completionsRequest } from "./request.ts";
import { CompletionsAssembler } from "./stream.ts";

/** OpenAI's chat completions, and every server that speaks them (PROV-13). */
export class OpenAiCompletions implements Provider {
  readonly id = "openai";
  readonly protocol = "openai_completions";
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  outputRoad({ provider }: ModelConfig, { type }: StructuredOutput): OutputRoad {
    return openAiOutputRoad(provider, type);
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await ask(this.#adapter, request, options, () => {
      const key = keyOf(request);
      return {
        url: endpoint(request.model.baseUrl, "/chat/completions", "/v1", false),
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: completionsRequest(request),
        assemble: (context) => new CompletionsAssembler(context),
      };
    });
  }
}
