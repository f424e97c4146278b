import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import { endpoint } from "../endpoint.ts";
import { openAiOutputRoad } from "../openai-output.ts";
import type { ModelRequest, OutputRoad, Provider, StreamOptions } from "../provider.ts";
import { responsesRequest } from "../responses/request.ts";
import { ResponsesAssembler } from "../responses/stream.ts";

/** OpenAI's Responses API, and every server that speaks it (PROV-17). */
export class OpenAiResponses implements Provider {
  readonly id = "openai_responses";
  readonly protocol = "openai_responses";
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
        url: endpoint(request.model.baseUrl, "/responses", "/v1", false),
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: responsesRequest(request),
        assemble: (context) => new ResponsesAssembler(context),
      };
    });
  }
}
