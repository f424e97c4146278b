import type { CustomProtocol, Protocol } from "../schema/model.ts";
import { AnthropicMessages } from "./anthropic-messages/anthropic-messages.ts";
import { AzureOpenAiResponses } from "./azure-openai-responses/azure-openai-responses.ts";
import { BedrockConverse } from "./bedrock-converse/bedrock-converse.ts";
import { GoogleGenerativeAi } from "./google-generative-ai/google-generative-ai.ts";
import { GoogleVertex } from "./google-vertex/google-vertex.ts";
import { HttpClient } from "./http-client.ts";
import { OpenAiCompletions } from "./openai-completions/openai-completions.ts";
import { OpenAiResponses } from "./openai-responses/openai-responses.ts";
import type { Provider } from "./provider.ts";
import type { AdapterOptions } from "./send-vendor-request.ts";

type AnyProtocol = Protocol | CustomProtocol;

/** The adapters by protocol. A model names its protocol; nothing is derived from the model's name. */
export class ProviderRegistry {
  readonly #providers = new Map<AnyProtocol, Provider>();

  /**
   * Creates a registry with all built-in protocols and one shared connection pool.
   *
   * @param options.http - Specify it to set other limits, or to close the pool.
   */
  static createDefault(options: Partial<AdapterOptions> = {}): ProviderRegistry {
    const adapter = { ...options, http: options.http ?? new HttpClient() };
    return new ProviderRegistry()
      .register(new AnthropicMessages(adapter))
      .register(new OpenAiCompletions(adapter))
      .register(new OpenAiResponses(adapter))
      .register(new AzureOpenAiResponses(adapter))
      .register(new GoogleGenerativeAi(adapter))
      .register(new GoogleVertex(adapter))
      .register(new BedrockConverse(adapter));
  }

  /** A later registration replaces an earlier one. */
  register(provider: Provider): this {
    this.#providers.set(provider.protocol, provider);
    return this;
  }

  /** Returns a registry in which each adapter is wrapped. */
  wrap(wrapProvider: (provider: Provider) => Provider): ProviderRegistry {
    const registry = new ProviderRegistry();
    for (const provider of this.#providers.values()) registry.register(wrapProvider(provider));
    return registry;
  }

  get(protocol: AnyProtocol): Provider | undefined {
    return this.#providers.get(protocol);
  }

  has(protocol: AnyProtocol): boolean {
    return this.#providers.has(protocol);
  }

  listProtocols(): readonly AnyProtocol[] {
    return [...this.#providers.keys()];
  }
}
