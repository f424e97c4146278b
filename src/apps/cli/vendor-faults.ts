import type { ProviderError } from "../../models/provider-error.ts";
import type { ModelConfig } from "../../schema/model.ts";

/** The class of a vendor's response. */
export type VendorAnswer =
  | "answered"
  | "key-missing"
  | "key-rejected"
  | "not-a-vendor"
  | "model-unknown"
  | "quota"
  | "rate-limited"
  | "timeout"
  | "unreachable"
  | "connection-broken"
  | "vendor-error"
  | "request-rejected";

const QUOTA = /quota|billing|credit|insufficient_funds|payment/i;
const NOT_THE_VENDOR = /an HTML page|a redirect to|a content type|instead of|answered 200/i;
const TOO_LONG = /no connection within|no answer within|silent for|without saying anything/;
const MODEL_UNKNOWN =
  /(?:models?|deployment)\b.*(?:not (?:found|exist|supported|available)|does not exist|unknown|invalid)|(?:unknown|invalid|no such) model|not_found_error|could not resolve the foundation model|DeploymentNotFound|model_not_found/i;

export function classifyFailure(error: ProviderError, timedOut: boolean): VendorAnswer {
  const { fault, status, message, vendorType, retryAfterMs } = error;
  if (timedOut || TOO_LONG.test(message)) return "timeout";
  if (fault === "auth" && status === undefined) return "key-missing";
  if (NOT_THE_VENDOR.test(message) || (status !== undefined && status < 400)) return "not-a-vendor";
  // Google mentions quota and billing in every rate-limit error; a retry delay means that waiting is enough.
  const passes =
    fault === "rate-limited" && retryAfterMs !== undefined && vendorType !== "insufficient_quota";
  if (status === 402 || (QUOTA.test(message) && fault !== "auth" && !passes)) return "quota";
  if (fault === "auth") return "key-rejected";
  if (fault === "rate-limited") return "rate-limited";
  if ((status === 404 || status === 400) && MODEL_UNKNOWN.test(message)) return "model-unknown";
  if (status === 404 || status === 405) return "not-a-vendor";
  if (status !== undefined && status >= 500) return "vendor-error";
  if (fault === "network") return /\(E[A-Z_]+\)$/.test(message) ? "unreachable" : "connection-broken";
  return fault === "other" && status === undefined ? "not-a-vendor" : "request-rejected";
}

/** Advice for vendors whose credentials are not a key in a variable of their own. */
const KEYLESS_ADVICE: Readonly<Record<string, string>> = {
  bedrock:
    "set AWS_BEARER_TOKEN_BEDROCK, or sign in as for AWS's own tools (aws configure), here and where the worker runs",
  vertex:
    "sign in with gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS, here and where the worker runs",
};

/** Returns what the user can do about the failure. */
export function getAdvice(
  answer: Exclude<VendorAnswer, "answered">,
  { id, provider, apiKey, baseUrl }: ModelConfig,
  { retryAfterMs }: ProviderError,
): string {
  const { origin, host } = new URL(baseUrl);
  const key = apiKey?.slice(2, -1);
  switch (answer) {
    case "key-missing":
      return key === undefined
        ? (KEYLESS_ADVICE[provider] ??
            `configure credentials for ${provider}: docs/vendors lists the supported ones`)
        : `set ${key} here for this check, and where the worker runs for runs`;
    case "key-rejected":
      return `check that ${key === undefined ? "the credentials are" : `the key in ${key} is`} complete, issued by ${provider}, not expired, and permitted to use ${id}`;
    case "not-a-vendor":
      return `something other than ${provider} responds, such as a proxy, or the path is wrong: check the base URL (${origin}) and any proxies`;
    case "model-unknown":
      if (provider === "azure") {
        return `check the name: Azure uses deployment names, and ${host} must have a deployment ${id}`;
      }
      return `check the name ${id}, and that this account may use it; holdfast models ${provider} lists the known models`;
    case "quota":
      return `the account has no quota or credit left: check its limits and billing at ${provider}`;
    case "rate-limited":
      return retryAfterMs === undefined
        ? "the key works; try again later"
        : `the key works; try again in ${Math.ceil(retryAfterMs / 1000)} s`;
    case "timeout":
      return `check for a proxy or firewall in front of ${host}, or a server that is still loading its model`;
    case "unreachable":
      return `check the name and the port of ${host}, the network, and whether a proxy is needed`;
    case "connection-broken":
      return `the response began but did not end: check for a proxy in front of ${host} that cuts or changes streams`;
    case "vendor-error":
      return `${provider} has a problem: check its status page, and try again later`;
    case "request-rejected":
      return `${provider} accepted the credentials but rejected the request: see its message`;
  }
}
