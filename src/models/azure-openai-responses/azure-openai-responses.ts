import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import { buildResponsesRequest } from "../responses/request.ts";
import { ResponsesAssembler } from "../responses/responses-assembler.ts";
import { type AdapterOptions, requireKey, sendVendorRequest } from "../send-vendor-request.ts";
import { buildAzureUrl } from "./build-azure-url.ts";

/** The Responses API as Azure serves it: another address, another header for the key (PROV-19). */
export class AzureOpenAiResponses implements Provider {
  readonly id = "azure_openai";
  readonly protocol = "azure_openai_responses";
  readonly selectOutputMode = () => "native" as const;
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await sendVendorRequest(this.#adapter, request, options, () => {
      const key = requireKey(request);
      return {
        url: buildAzureUrl(request.model),
        headers: omitUndefined({ "api-key": key }),
        body: buildResponsesRequest(request),
        createAssembler: (context) => new ResponsesAssembler(context),
      };
    });
  }
}
