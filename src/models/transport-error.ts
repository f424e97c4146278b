import { ProviderError } from "./provider-error.ts";
import { quoteVendor, type Vendor } from "./provider-error-from-response.ts";

/** Milliseconds. */
export type HttpLimits = {
  readonly connectTimeoutMs: number;
  /** From the request to the head of the answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of the answer. A comment or a ping counts as a piece. */
  readonly bodyTimeoutMs: number;
  /** Between two pieces of the answer that are progress: comments, pings and empty pieces are not. */
  readonly stallTimeoutMs: number;
};

type FailedCall = { readonly url: string; readonly vendor: Vendor; readonly signal: AbortSignal };

const ERROR_SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "the name of the host is unknown",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  EPIPE: "the connection was closed while the request was sent",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  Z_BUF_ERROR: "the compressed answer was cut off",
};

/** Client errors that a retry does not fix: an invalid header, an address without a scheme. */
const CLIENT_ERROR_CODES = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "ERR_INVALID_URL",
  "ERR_INVALID_ARG_TYPE",
]);

/** Converts a connection failure to a fault: cancelled by the caller, or the network's. */
export function createTransportError(call: FailedCall, limits: HttpLimits, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const { vendor } = call;
  if (call.signal.aborted) {
    return new ProviderError("cancelled", `the request to ${vendor.name} was cancelled`, { cause: error });
  }
  const { code, message } = findRootError(error);
  const fault = CLIENT_ERROR_CODES.has(code) ? "other" : "network";
  const description = describeTimeout(code, limits) ?? ERROR_SENTENCES[code] ?? quoteVendor(vendor, message);
  const tail = code === "" ? "" : ` (${code})`;
  return new ProviderError(fault, `${vendor.name} at ${new URL(call.url).host}: ${description}${tail}`, {
    cause: error,
  });
}

function describeTimeout(code: string, limits: HttpLimits): string | undefined {
  switch (code) {
    case "UND_ERR_CONNECT_TIMEOUT":
      return `no connection within ${limits.connectTimeoutMs} ms`;
    case "UND_ERR_HEADERS_TIMEOUT":
      return `no answer within ${limits.firstByteTimeoutMs} ms`;
    case "UND_ERR_BODY_TIMEOUT":
      return `silent for ${limits.bodyTimeoutMs} ms in the middle of its answer`;
    default:
      return undefined;
  }
}

/** Creates the error for a connection that stays open without progress. */
export function createStalledError(vendor: Vendor, { stallTimeoutMs }: HttpLimits): ProviderError {
  return new ProviderError(
    "network",
    `${vendor.name}: its answer made no progress for ${stallTimeoutMs} ms, so Holdfast ended it`,
  );
}

/** A host with several addresses fails with one error for each; the first represents all. */
function findRootError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return findRootError(error.errors[0]);
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { code, message: error.message === "" ? error.name : error.message };
}
