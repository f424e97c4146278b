import type { Catalogue } from "../../config/catalogue/catalogue.ts";
import { parseModel } from "../../config/parse-model.ts";
import type { ModelOptions } from "../../config/vendor-models.ts";
import { HttpClient } from "../../models/http-client.ts";
import type { ModelRequest } from "../../models/provider.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { ProviderRegistry } from "../../models/provider-registry.ts";
import { resolveHeaders, resolveSecrets, type SecretSource } from "../../models/secrets.ts";
import type { Usage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { UsageError } from "./usage-error.ts";
import { classifyFailure, getAdvice, type VendorAnswer } from "./vendor-faults.ts";

/** The result of a minimal request to a vendor. It contains no key, and no part of a key from the vendor's message. */
export type VendorCheck = {
  readonly model: string;
  readonly protocol: string;
  readonly address: string;
  /** The variable that holds the key. */
  readonly key?: string;
  readonly ok: boolean;
  readonly answer: VendorAnswer;
  readonly details: string;
  readonly advice?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly usage?: Usage;
  readonly durationMs: number;
};

/** @param vendorName - `anthropic/ID`, or a provider, which selects its cheapest known model. */
export function selectVendorModel(
  vendorName: string,
  options: ModelOptions,
  catalogue: Catalogue,
): ModelConfig {
  if (vendorName.includes("/")) return parseModel(vendorName, options, catalogue);
  const list = { "openai-responses": "openai", vertex: "google" }[vendorName] ?? vendorName;
  const [cheapest] = catalogue
    .entries()
    .filter(({ provider, cost }) => provider === list && cost !== undefined)
    .sort((a, b) => a.cost!.input + a.cost!.output - b.cost!.input - b.cost!.output);
  if (cheapest !== undefined) return parseModel(`${vendorName}/${cheapest.id}`, options, catalogue);
  // Throws an error that lists the providers if the name is not one of them.
  parseModel(`${vendorName}/-`, { baseUrl: "http://127.0.0.1", ...options }, catalogue);
  throw new UsageError(
    `No model of ${vendorName} with known prices exists. Specify one: --vendor ${vendorName}/ID`,
  );
}

/** The smallest token limit that every vendor accepts. */
const ANSWER_TOKENS = 16;

export async function checkVendor(
  model: ModelConfig,
  secrets: SecretSource,
  timeoutMs: number,
): Promise<VendorCheck> {
  const { origin, pathname } = new URL(model.baseUrl);
  const base = {
    model: `${model.provider}/${model.id}`,
    protocol: model.api,
    address: `${origin}${pathname.replace(/\/$/, "")}`,
    ...(model.apiKey !== undefined && { key: model.apiKey.slice(2, -1) }),
  };
  const http = new HttpClient();
  const limit = AbortSignal.timeout(timeoutMs);
  const began = performance.now();
  const getElapsedMs = () => Math.round(performance.now() - began);
  try {
    const provider = ProviderRegistry.createDefault({ http }).get(model.api);
    if (provider === undefined) throw new ProviderError("other", `no provider supports ${model.api}`);
    const { usage } = await provider.stream(buildSmallestRequest(model, secrets), { signal: limit });
    const details = `an answer with ${usage.output} output tokens to ${usage.input} input tokens`;
    return { ...base, ok: true, answer: "answered", details, usage, durationMs: getElapsedMs() };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const answer = classifyFailure(error, limit.aborted) as Exclude<VendorAnswer, "answered">;
    const { status, requestId } = error;
    return {
      ...base,
      ok: false,
      answer,
      details: limit.aborted
        ? `no answer within ${timeoutMs / 1000} s`
        : formatFailure(error, answer, base.key),
      advice: getAdvice(answer, model, error),
      ...(status !== undefined && { status }),
      ...(requestId !== undefined && { requestId }),
      durationMs: getElapsedMs(),
    };
  } finally {
    await http.close();
  }
}

/** Replaces the adapter's message about a missing key, which speaks of a worker. */
function formatFailure({ message }: ProviderError, answer: VendorAnswer, key: string | undefined): string {
  return answer === "key-missing" && key !== undefined ? `${key} is not set here` : message;
}

function buildSmallestRequest(model: ModelConfig, secrets: SecretSource): ModelRequest {
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
