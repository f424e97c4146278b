import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { createCallIds } from "../gemini/create-call-ids.ts";
import { GeminiAssembler } from "../gemini/gemini-assembler.ts";
import { buildGeminiRequest, selectOutputMode } from "../gemini/request.ts";
import type { ModelRequest, OutputMode, Provider, StreamOptions } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import { type AdapterOptions, requireKey, sendVendorRequest } from "../send-vendor-request.ts";
import { buildVertexUrl, hasProject } from "./build-vertex-url.ts";
import { isServiceAccount, VertexCredentials, type VertexTokenSource } from "./vertex-credentials.ts";

/** Gemini on Google Cloud (PROV-22): the same requests and answers at another address, with other credentials. */
export class GoogleVertex implements Provider {
  readonly id = "google_vertex";
  readonly protocol = "google_vertex";
  readonly #adapter: AdapterOptions;
  readonly #credentials: VertexCredentials;

  constructor(adapter: AdapterOptions, credentials = new VertexCredentials()) {
    this.#adapter = adapter;
    this.#credentials = credentials;
  }

  selectOutputMode(model: ModelConfig): OutputMode {
    return selectOutputMode(model);
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    const { model, messages } = request;
    const source = selectTokenSource(request);
    const given = source === undefined ? undefined : await this.#getToken(request, source, options.signal);
    // Passed as the key, so that the token is masked in every output.
    const authorised = given === undefined ? request : { ...request, apiKey: given["authorization"] };
    try {
      return await sendVendorRequest(this.#adapter, authorised, options, () => ({
        url: buildVertexUrl(model.baseUrl, model.id),
        headers: { ...(given ?? buildKeyHeader(request)), ...buildTierHeaders(model.serviceTier) },
        body: buildGeminiRequest(request),
        createAssembler: (context) => new GeminiAssembler(context, createCallIds("vertex-fc", messages)),
      }));
    } catch (error) {
      if (source !== undefined && error instanceof ProviderError && error.fault === "auth") {
        this.#credentials.invalidate(source);
      }
      throw error;
    }
  }

  async #getToken(request: ModelRequest, source: VertexTokenSource, signal: AbortSignal) {
    const { provider, baseUrl } = request.model;
    if (!hasProject(baseUrl)) {
      throw new ProviderError(
        "auth",
        `${provider} needs a project for these credentials: set the base URL to https://HOST/v1/projects/PROJECT/locations/LOCATION`,
      );
    }
    return await this.#credentials.getHeaders(provider, source, signal);
  }
}

/** Returns nothing if the request has its own authentication: a key, a token, or a header. */
function selectTokenSource(request: ModelRequest): VertexTokenSource | undefined {
  const headers = Object.keys(request.headers ?? request.model.headers).map((name) => name.toLowerCase());
  if (headers.includes("authorization") || headers.includes("x-goog-api-key")) return undefined;
  const key = requireKey(request);
  if (key === undefined) return {};
  return isServiceAccount(key) ? { account: key } : undefined;
}

/** A key is an API key by its format or if there is no project; otherwise it is an OAuth token (PROV-22). */
function buildKeyHeader(request: ModelRequest): Record<string, string> {
  const key = requireKey(request);
  if (key === undefined) return {};
  const token = /^(?:ya29\.|eyJ)/.test(key);
  const known = /^(?:AIza[\w-]{20,}|AQ\.[\w-]+)$/.test(key);
  if (known || (!token && !hasProject(request.model.baseUrl))) return { "x-goog-api-key": key };
  return { authorization: `Bearer ${key}` };
}

/** `shared` and `dedicated` select pay-as-you-go or provisioned capacity; other tiers belong to the shared capacity. */
function buildTierHeaders(tier: string | undefined): Record<string, string> {
  if (tier === undefined || tier === "standard") return {};
  const kind = tier === "shared" || tier === "dedicated" ? "request" : "shared-request";
  return { [`x-vertex-ai-llm-${kind}-type`]: tier };
}
