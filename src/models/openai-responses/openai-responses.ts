import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { buildEndpoint } from "../build-endpoint.ts";
import { selectOpenAiOutputMode } from "../openai-output.ts";
import type { ModelRequest, OutputMode, Provider, StreamOptions } from "../provider.ts";
import { buildResponsesRequest } from "../responses/request.ts";
import { ResponsesAssembler } from "../responses/responses-assembler.ts";
import { type AdapterOptions, requireKey, sendVendorRequest } from "../send-vendor-request.ts";

/** OpenAI's Responses API, and every server that supports it (PROV-17). */
export class OpenAiResponses implements Provider {
  readonly id = "openai_responses";
  readonly protocol = "openai_responses";
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  selectOutputMode({ provider }: ModelConfig, { type }: StructuredOutput): OutputMode {
    return selectOpenAiOutputMode(provider, type);
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await sendVendorRequest(this.#adapter, request, options, () => {
      const key = requireKey(request);
      return {
        url: buildEndpoint(request.model.baseUrl, "/responses", "/v1", false),
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: buildResponsesRequest(request),
        createAssembler: (context) => new ResponsesAssembler(context),
      };
    });
  }
}
