import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { type AdapterOptions, ask, keyOf } from "../ask.ts";
import { callIds } from "../gemini/call-ids.ts";
import { geminiRequest, geminiRoad } from "../gemini/request.ts";
import { GeminiAssembler } from "../gemini/stream.ts";
import type { ModelRequest, OutputRoad, Provider, StreamOptions } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import { namesProject, vertexAddress } from "./address.ts";
import { isAccount, type TokenSource, VertexCredentials } from "./credentials.ts";

/** Gemini on Google Cloud (PROV-22): the same questions and answers at another address, with other credentials. */
export class GoogleVertex implements Provider {
  readonly id = "google_vertex";
  readonly protocol = "google_vertex";
  readonly #adapter: AdapterOptions;
  readonly #credentials: VertexCredentials;

  constructor(adapter: AdapterOptions, credentials = new VertexCredentials()) {
    this.#adapter = adapter;
    this.#credentials = credentials;
  }

  outputRoad(model: ModelConfig): OutputRoad {
    return geminiRoad(model);
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    const { model, messages } = request;
    const source = sourceOf(request);
    const given = source === undefined ? undefined : await this.#token(request, source, options.signal);
    // As the key, the token is masked wherever something of it might be shown.
    const asked = given === undefined ? request : { ...request, apiKey: given["authorization"] };
    try {
      return await ask(this.#adapter, asked, options, () => ({
        url: vertexAddress(model.baseUrl, model.id),
        headers: { ...(given ?? keyHeader(request)), ...tierHeaders(model.serviceTier) },
        body: geminiRequest(request),
        assemble: (context) => new GeminiAssembler(context, callIds("vertex-fc", messages)),
      }));
    } catch (error) {
      if (source !== undefined && error instanceof ProviderError && error.fault === "auth") {
        this.#credentials.forget(source);
      }
      throw error;
    }
  }

  async #token(request: ModelRequest, source: TokenSource, signal: AbortSignal) {
    const { provider, baseUrl } = request.model;
    if (!namesProject(baseUrl)) {
      throw new ProviderError(
        "auth",
        `${provider} needs a project for these credentials: set the base URL to https://HOST/v1/projects/PROJECT/locations/LOCATION`,
      );
    }
    return await this.#credentials.headers(provider, source, signal);
  }
}

/** Nothing where the request brings what it needs: a key, a token, or a header of its own. */
function sourceOf(request: ModelRequest): TokenSource | undefined {
  const headers = Object.keys(request.headers ?? request.model.headers).map((name) => name.toLowerCase());
  if (headers.includes("authorization") || headers.includes("x-goog-api-key")) return undefined;
  const key = keyOf(request);
  if (key === undefined) return {};
  return isAccount(key) ? { account: key } : undefined;
}

/** An API key by its form, or where there is no project; any other key is an OAuth token (PROV-22). */
function keyHeader(request: ModelRequest): Record<string, string> {
  const key = keyOf(request);
  if (key === undefined) return {};
  const token = /^(?:ya29\.|eyJ)/.test(key);
  const known = /^(?:AIza[\w-]{20,}|AQ\.[\w-]+)$/.test(key);
  if (known || (!token && !namesProject(request.model.baseUrl))) return { "x-goog-api-key": key };
  return { authorization: `Bearer ${key}` };
}

/** `shared` and `dedicated` choose between what is paid by use and what was bought ahead; other tiers are shared ones. */
function tierHeaders(tier: string | undefined): Record<string, string> {
  if (tier === undefined || tier === "standard") return {};
  const kind = tier === "shared" || tier === "dedicated" ? "request" : "shared-request";
  return { [`x-vertex-ai-llm-${kind}-type`]: tier };
}
