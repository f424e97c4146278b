import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import { callIds } from "../gemini/call-ids.ts";
import { askedOf, withoutModel } from "../gemini/model-path.ts";
import { geminiRequest, geminiRoad } from "../gemini/request.ts";
import { GeminiAssembler } from "../gemini/stream.ts";
import type { ModelRequest, OutputRoad, Provider, StreamOptions } from "../provider.ts";

/** The Gemini API (PROV-20, PROV-21). Its key goes in a header: addresses are written into logs. */
export class GoogleGenerativeAi implements Provider {
  readonly id = "google";
  readonly protocol = "google_generative_ai";
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  outputRoad(model: ModelConfig): OutputRoad {
    return geminiRoad(model);
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await ask(this.#adapter, request, options, () => {
      const { model } = request;
      const key = keyOf(request);
      return {
        url: geminiAddress(model.baseUrl, model.id),
        headers: key === undefined ? {} : { "x-goog-api-key": key },
        body: {
          ...geminiRequest(request),
          ...(model.serviceTier !== undefined && { serviceTier: model.serviceTier }),
        },
        assemble: (context) => new GeminiAssembler(context, callIds("google-fc", request.messages)),
      };
    });
  }
}

export function geminiAddress(baseUrl: string, id: string): string {
  const base = new URL(baseUrl);
  const root = withoutModel(base.pathname);
  const versioned = /\/v\d+[a-z]*\d*$/.test(root) ? root : `${root}/v1beta`;
  return askedOf(base, versioned, /^(?:models|tunedModels)\//.test(id) ? id : `models/${id}`);
}
