import type { Catalogue } from "../../config/catalogue/catalogue.ts";
import { parseModel } from "../../config/parse-model.ts";
import type { ModelOptions } from "../../config/vendor-models.ts";
import { Http } from "../../models/http.ts";
import type { ModelRequest } from "../../models/provider.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { ProviderRegistry } from "../../models/registry.ts";
import { resolveHeaders, resolveSecrets, type SecretSource } from "../../models/secrets.ts";
import type { Usage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { UsageError } from "./usage-error.ts";
import { adviceFor, answerOf, type VendorAnswer } from "./vendor-faults.ts";

/** What became of the smallest question to a vendor. No key is in it, and nothing that a vendor says of one. */
export type VendorCheck = {
  readonly model: string;
  readonly protocol: string;
  readonly address: string;
  /** The variable that holds the key. */
  readonly key?: string;
  readonly ok: boolean;
  readonly answer: VendorAnswer;
  readonly found: string;
  readonly advice?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly usage?: Usage;
  readonly tookMs: number;
};

/** @param named - `anthropic/ID`, or a provider, of which the cheapest model that is known is asked. */
export function vendorModel(named: string, options: ModelOptions, catalogue: Catalogue): ModelConfig {
  if (named.includes("/")) return parseModel(named, options, catalogue);
  const list = { "openai-responses": "openai", vertex: "google" }[named] ?? named;
  const [cheapest] = catalogue
    .entries()
    .filter(({ provider, cost }) => provider === list && cost !== undefined)
    .sort((a, b) => a.cost!.input + a.cost!.output - b.cost!.input - b.cost!.output);
  if (cheapest !== undefined) return parseModel(`${named}/${cheapest.id}`, options, catalogue);
  // Says which providers there are, where it is none.
  parseModel(`${named}/-`, { baseUrl: "http://127.0.0.1", ...options }, catalogue);
  throw new UsageError(`Name the model too: --vendor ${named}/ID`);
}

/** The fewest tokens that every vendor takes as a limit. */
const ANSWER_TOKENS = 16;

export async function checkVendor(
  model: ModelConfig,
  secrets: SecretSource,
  timeoutMs: number,
): Promise<VendorCheck> {
  const { origin, pathname } = new URL(model.baseUrl);
  const asked = {
    model: `${model.provider}/${model.id}`,
    protocol: model.api,
    address: `${origin}${pathname.replace(/\/$/, "")}`,
    ...(model.apiKey !== undefined && { key: model.apiKey.slice(2, -1) }),
  };
  const http = new Http();
  const limit = AbortSignal.timeout(timeoutMs);
  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  try {
    const provider = ProviderRegistry.default({ http }).get(model.api);
    if (provider === undefined) throw new ProviderError("other", `nothing here speaks ${model.api}`);
    const { usage } = await provider.stream(smallest(model, secrets), { signal: limit });
    const found = `an answer, of ${usage.output} tokens to ${usage.input}`;
    return { ...asked, ok: true, answer: "answered", found, usage, tookMs: took() };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const answer = answerOf(error, limit.aborted) as Exclude<VendorAnswer, "answered">;
    const { status, requestId } = error;
    return {
      ...asked,
      ok: false,
      answer,
      found: limit.aborted ? `no answer within ${timeoutMs / 1000} s` : wordsOf(error, answer, asked.key),
      advice: adviceFor(answer, model, error),
      ...(status !== undefined && { status }),
      ...(requestId !== undefined && { requestId }),
      tookMs: took(),
    };
  } finally {
    await http.close();
  }
}

/** The adapter speaks of the worker, which this is not. */
function wordsOf({ message }: ProviderError, answer: VendorAnswer, key: string | undefined): string {
  return answer === "key-missing" && key !== undefined ? `${key} is not set here` : message;
}

function smallest(model: ModelConfig, secrets: SecretSource): ModelRequest {
  return {
    model,
    apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
    headers: resolveHeaders(model.headers, secrets),
    systemPrompt: "",
    messages: [{ role: "user", content: [{ type: "text", text: "Say OK." }], timestamp: 0 }],
    tools: [],
    thinking: "off",
    maxTokens: ANSWER_TOKENS,
    cache: { enabled: false, strategy: "auto" },
  };
}
