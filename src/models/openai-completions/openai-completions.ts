import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { buildEndpoint } from "../build-endpoint.ts";
import { selectOpenAiOutputMode } from "../openai-output.ts";
import type { ModelRequest, OutputMode, Provider, StreamOptions } from "../provider.ts";
import { type AdapterOptions, requireKey, sendVendorRequest } from "../send-vendor-request.ts";
import { CompletionsAssembler } from "./completions-assembler.ts";
import { buildCompletionsRequest } from "./request.ts";

/** OpenAI's chat completions, and every server that supports them (PROV-13). */
export class OpenAiCompletions implements Provider {
  readonly id = "openai";
  readonly protocol = "openai_completions";
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
        url: buildEndpoint(request.model.baseUrl, "/chat/completions", "/v1", false),
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: buildCompletionsRequest(request),
        createAssembler: (context) => new CompletionsAssembler(context),
      };
    });
  }
}
