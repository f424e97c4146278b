import * as models from "../../../src/config/vendor-models.ts";
import type { HttpClient } from "../../../src/models/http-client.ts";
import type { Provider } from "../../../src/models/provider.ts";
import { ProviderRegistry } from "../../../src/models/provider-registry.ts";
import type { ModelConfig, Protocol } from "../../../src/schema/model.ts";
import { validateAnthropicRequest } from "../../../src/testing/model-server/anthropic-validation.ts";
import { validateBedrockRequest } from "../../../src/testing/model-server/bedrock-validation.ts";
import { validateGeminiRequest } from "../../../src/testing/model-server/gemini-validation.ts";
import { validateOpenAiRequest } from "../../../src/testing/model-server/openai-validation.ts";
import type { ModelServerRequest, WireProtocol } from "../../../src/testing/model-server/request.ts";
import { validateResponsesRequest } from "../../../src/testing/model-server/responses-validation.ts";

type Body = Readonly<Record<string, unknown>>;

export type TranslationVendor = {
  readonly make: (http: HttpClient) => Provider;
  readonly model: ModelConfig;
  readonly protocol: WireProtocol;
  /** The model is named in the path. */
  readonly isModelInPath: boolean;
  /** The scripted vendor's objection to a request. */
  readonly validate: (question: ModelServerRequest) => unknown;
  /** The conversation in a request, in the smallest pieces, to which later requests only append. */
  readonly pieces: (body: Body) => readonly unknown[];
};

const baseUrl = "http://127.0.0.1:9";
const createListReader = (name: string) => (body: Body) => body[name] as readonly unknown[];
const createProviderFactory = (protocol: Protocol) => (http: HttpClient) =>
  ProviderRegistry.createDefault({ http }).get(protocol) as Provider;

/** Bedrock requires consecutive content of one role in one message, which may therefore grow. */
function listBlocks({ messages }: Body): readonly unknown[] {
  return (messages as { role: string; content: object[] }[]).flatMap(({ role, content }) =>
    content.map((block) => ({ role, ...block })),
  );
}

export const VENDORS: Readonly<Record<Protocol, TranslationVendor>> = {
  anthropic_messages: {
    make: createProviderFactory("anthropic_messages"),
    model: models.anthropic("claude-opus-4-6", { baseUrl }),
    protocol: "anthropic_messages",
    isModelInPath: false,
    validate: validateAnthropicRequest,
    pieces: createListReader("messages"),
  },
  openai_completions: {
    make: createProviderFactory("openai_completions"),
    model: models.openai("gpt-5-mini", { baseUrl }),
    protocol: "openai_completions",
    isModelInPath: false,
    validate: validateOpenAiRequest,
    pieces: createListReader("messages"),
  },
  openai_responses: {
    make: createProviderFactory("openai_responses"),
    model: models.openaiResponses("gpt-5-mini", { baseUrl }),
    protocol: "openai_responses",
    isModelInPath: false,
    validate: validateResponsesRequest,
    pieces: createListReader("input"),
  },
  azure_openai_responses: {
    make: createProviderFactory("azure_openai_responses"),
    model: models.azure("gpt-5-mini", { baseUrl }),
    protocol: "openai_responses",
    isModelInPath: false,
    validate: validateResponsesRequest,
    pieces: createListReader("input"),
  },
  google_generative_ai: {
    make: createProviderFactory("google_generative_ai"),
    model: models.google("gemini-3-flash", { baseUrl }),
    protocol: "google_generative_ai",
    isModelInPath: true,
    validate: validateGeminiRequest,
    pieces: createListReader("contents"),
  },
  google_vertex: {
    make: createProviderFactory("google_vertex"),
    model: models.vertex("gemini-2.5-flash", { baseUrl: `${baseUrl}/v1/projects/p/locations/l` }),
    protocol: "google_vertex",
    isModelInPath: true,
    validate: validateGeminiRequest,
    pieces: createListReader("contents"),
  },
  bedrock_converse_stream: {
    make: createProviderFactory("bedrock_converse_stream"),
    model: models.bedrock("anthropic.claude-opus-4-6-v1", { baseUrl }),
    protocol: "bedrock_converse_stream",
    isModelInPath: true,
    validate: validateBedrockRequest,
    pieces: listBlocks,
  },
};
