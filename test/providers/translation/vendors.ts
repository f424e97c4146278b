import * as models from "../../../src/config/vendor-models.ts";
import type { Http } from "../../../src/models/http.ts";
import type { Provider } from "../../../src/models/provider.ts";
import { ProviderRegistry } from "../../../src/models/registry.ts";
import type { ModelConfig, Protocol } from "../../../src/schema/model.ts";
import { anthropicObjection } from "../../../src/testing/model-server/anthropic-objection.ts";
import { bedrockObjection } from "../../../src/testing/model-server/bedrock-objection.ts";
import { geminiObjection } from "../../../src/testing/model-server/gemini-objection.ts";
import { openaiObjection } from "../../../src/testing/model-server/openai-objection.ts";
import type { Question, WireProtocol } from "../../../src/testing/model-server/question.ts";
import { responsesObjection } from "../../../src/testing/model-server/responses-objection.ts";

type Body = Readonly<Record<string, unknown>>;

export type AskedVendor = {
  readonly make: (http: Http) => Provider;
  readonly model: ModelConfig;
  readonly speaks: WireProtocol;
  /** The model is named in the path. */
  readonly inPath: boolean;
  /** What the scripted vendor says against a request. */
  readonly objection: (question: Question) => unknown;
  /** The conversation in a request, in the smallest pieces that are only ever added to. */
  readonly pieces: (body: Body) => readonly unknown[];
};

const baseUrl = "http://127.0.0.1:9";
const listIn = (name: string) => (body: Body) => body[name] as readonly unknown[];
const make = (protocol: Protocol) => (http: Http) =>
  ProviderRegistry.default({ http }).get(protocol) as Provider;

/** Bedrock wants what follows one another from the same side in one message, which may therefore grow. */
function blocksIn({ messages }: Body): readonly unknown[] {
  return (messages as { role: string; content: object[] }[]).flatMap(({ role, content }) =>
    content.map((block) => ({ role, ...block })),
  );
}

export const VENDORS: Readonly<Record<Protocol, AskedVendor>> = {
  anthropic_messages: {
    make: make("anthropic_messages"),
    model: models.anthropic("claude-opus-4-6", { baseUrl }),
    speaks: "anthropic_messages",
    inPath: false,
    objection: anthropicObjection,
    pieces: listIn("messages"),
  },
  openai_completions: {
    make: make("openai_completions"),
    model: models.openai("gpt-5-mini", { baseUrl }),
    speaks: "openai_completions",
    inPath: false,
    objection: openaiObjection,
    pieces: listIn("messages"),
  },
  openai_responses: {
    make: make("openai_responses"),
    model: models.openaiResponses("gpt-5-mini", { baseUrl }),
    speaks: "openai_responses",
    inPath: false,
    objection: responsesObjection,
    pieces: listIn("input"),
  },
  azure_openai_responses: {
    make: make("azure_openai_responses"),
    model: models.azure("gpt-5-mini", { baseUrl }),
    speaks: "openai_responses",
    inPath: false,
    objection: responsesObjection,
    pieces: listIn("input"),
  },
  google_generative_ai: {
    make: make("google_generative_ai"),
    model: models.google("gemini-3-flash", { baseUrl }),
    speaks: "google_generative_ai",
    inPath: true,
    objection: geminiObjection,
    pieces: listIn("contents"),
  },
  google_vertex: {
    make: make("google_vertex"),
    model: models.vertex("gemini-2.5-flash", { baseUrl: `${baseUrl}/v1/projects/p/locations/l` }),
    speaks: "google_vertex",
    inPath: true,
    objection: geminiObjection,
    pieces: listIn("contents"),
  },
  bedrock_converse_stream: {
    make: make("bedrock_converse_stream"),
    model: models.bedrock("anthropic.claude-opus-4-6-v1", { baseUrl }),
    speaks: "bedrock_converse_stream",
    inPath: true,
    objection: bedrockObjection,
    pieces: blocksIn,
  },
};
