import type { AssistantMessage } from "../../schema/message.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import { responsesRequest } from "../responses/request.ts";
import { ResponsesAssembler } from "../responses/stream.ts";
import { azureAddress } from "./address.ts";

/** The Responses API as Azure serves it: another address, another header for the key (PROV-19). */
export class AzureOpenAiResponses implements Provider {
  readonly id = "azure_openai";
  readonly protocol = "azure_openai_responses";
  readonly outputRoad = () => "native" as const;
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await ask(this.#adapter, request, options, () => {
      const key = keyOf(request);
      return {
        url: azureAddress(request.model),
        headers: key === undefined ? {} : { "api-key": key },
        body: responsesRequest(request),
        assemble: (context) => new ResponsesAssembler(context),
      };
    });
  }
}
