import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { createCallIds } from "../gemini/create-call-ids.ts";
import { GeminiAssembler } from "../gemini/gemini-assembler.ts";
import { buildModelUrl, stripModel } from "../gemini/model-url.ts";
import { buildGeminiRequest, selectOutputMode } from "../gemini/request.ts";
import type { ModelRequest, OutputMode, Provider, StreamOptions } from "../provider.ts";
import { type AdapterOptions, requireKey, sendVendorRequest } from "../send-vendor-request.ts";

/** The Gemini API (PROV-20, PROV-21). Its key is sent in a header, because addresses are logged. */
export class GoogleGenerativeAi implements Provider {
  readonly id = "google";
  readonly protocol = "google_generative_ai";
  readonly #adapter: AdapterOptions;

  constructor(adapter: AdapterOptions) {
    this.#adapter = adapter;
  }

  selectOutputMode(model: ModelConfig): OutputMode {
    return selectOutputMode(model);
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await sendVendorRequest(this.#adapter, request, options, () => {
      const { model } = request;
      const key = requireKey(request);
      return {
        url: buildGeminiUrl(model.baseUrl, model.id),
        headers: omitUndefined({ "x-goog-api-key": key }),
        body: {
          ...buildGeminiRequest(request),
          ...(model.serviceTier !== undefined && { serviceTier: model.serviceTier }),
        },
        createAssembler: (context) =>
          new GeminiAssembler(context, createCallIds("google-fc", request.messages)),
      };
    });
  }
}

export function buildGeminiUrl(baseUrl: string, id: string): string {
  const base = new URL(baseUrl);
  const root = stripModel(base.pathname);
  const versioned = /\/v\d+[a-z]*\d*$/.test(root) ? root : `${root}/v1beta`;
  return buildModelUrl(base, versioned, /^(?:models|tunedModels)\//.test(id) ? id : `models/${id}`);
}
