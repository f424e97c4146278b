import type { Protocol } from "../../schema/model.ts";
import type { Recording } from "./recordings.ts";

/** The request that replays a recorded reply. */
export type Route = {
  readonly protocol: Protocol;
  /** The part of the path before the adapter's own part; empty, or with a leading slash. */
  readonly prefix: string;
  /** The model id, if the address contains it. */
  readonly model?: string;
};

const AZURE_HOST = /\.(?:openai\.azure\.com|services\.ai\.azure\.com|cognitiveservices\.azure\.com)$/;
const VERTEX_HOST = /(?:^|[.-])aiplatform\.(?:[a-z0-9-]+\.rep\.)?googleapis\.com$/;

/** The protocols of hosts, for endpoints whose path does not determine the protocol. */
const HOSTS: readonly (readonly [RegExp, Protocol])[] = [
  [/^api\.anthropic\.com$/, "anthropic_messages"],
  [/^generativelanguage\.googleapis\.com$/, "google_generative_ai"],
  [VERTEX_HOST, "google_vertex"],
  [/^bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/, "bedrock_converse_stream"],
  [AZURE_HOST, "azure_openai_responses"],
  [/^api\.openai\.com$/, "openai_responses"],
  // Vendors with their own preset.
  [
    /(?:^|\.)(?:openrouter\.ai|deepseek\.com|mistral\.ai|groq\.com|x\.ai|cerebras\.ai)$/,
    "openai_completions",
  ],
];

export function parseUrl({ host, uri }: Pick<Recording, "host" | "uri">): URL | undefined {
  return URL.canParse(uri, `https://${host}`) ? new URL(uri, `https://${host}`) : undefined;
}

/**
 * Finds the protocol whose generating endpoint an address is, at its vendor or at a gateway. Returns undefined for other
 * endpoints: token counting, embeddings, batches, files.
 */
export function findRoute(address: Pick<Recording, "host" | "uri">): Route | undefined {
  const url = parseUrl(address);
  if (url === undefined) return undefined;
  const path = url.pathname.replace(/\/+$/, "");
  const stripSuffix = (ending: string) => (path.endsWith(ending) ? path.slice(0, -ending.length) : undefined);

  const messages = stripSuffix("/v1/messages") ?? stripSuffix("/messages");
  if (messages !== undefined) return { protocol: "anthropic_messages", prefix: messages };
  const completions = stripSuffix("/chat/completions");
  if (completions !== undefined) return { protocol: "openai_completions", prefix: completions };
  const responses = stripSuffix("/responses");
  if (responses !== undefined) {
    const azure = AZURE_HOST.test(url.hostname) || url.searchParams.has("api-version");
    return { protocol: azure ? "azure_openai_responses" : "openai_responses", prefix: responses };
  }
  const gemini = /^(.*)\/models\/([^/]+):(?:streamGenerateContent|generateContent)$/.exec(path);
  if (gemini !== null) {
    const [, prefix = "", model = ""] = gemini;
    const vertex = VERTEX_HOST.test(url.hostname) || prefix.includes("/publishers/");
    return { protocol: vertex ? "google_vertex" : "google_generative_ai", prefix, model: decodePart(model) };
  }
  const bedrock = /^(.*)\/model\/([^/]+)\/converse(?:-stream)?$/.exec(path);
  if (bedrock === null) return undefined;
  const [, prefix = "", model = ""] = bedrock;
  return { protocol: "bedrock_converse_stream", prefix, model: decodePart(model) };
}

/** Finds the host's protocol for the other endpoints of a vendor's own host, whose errors have the same format. */
export function findRouteByHost(address: Pick<Recording, "host" | "uri">): Route | undefined {
  const hostname = parseUrl(address)?.hostname ?? "";
  const found = HOSTS.find(([pattern]) => pattern.test(hostname));
  return found === undefined ? undefined : { protocol: found[1], prefix: "" };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
