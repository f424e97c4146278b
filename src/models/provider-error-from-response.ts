import { asList, asObject, getOwn, type JsonObject, parseJson } from "../platform/text/json.ts";
import { isOverflow, isOverflowText } from "../platform/text/overflow.ts";
import { redact } from "../platform/text/redact.ts";
import { extractPageText } from "./extract-page-text.ts";
import { asCount, asNonEmptyText } from "./json.ts";
import { ProviderError, type ProviderFault } from "./provider-error.ts";
import { parseRetryHintMs } from "./rate-limits/retry-hint.ts";
import { getHeader, parseRetryAfterMs, type ResponseHeaders } from "./retry-after.ts";
import type { Mask } from "./secret-masks.ts";

/** The vendor of a request, and how its errors are read. */
export type Vendor = {
  readonly name: string;
  readonly mask: Mask;
  /** Whether server errors count as `network`, so that they are retried (GAP-14). Off by default. */
  readonly retryServerErrors: boolean;
  /** The vendor's own messages for an input that does not fit, besides the common ones. */
  readonly overflowPattern?: RegExp | undefined;
};

/** The longest quote of a vendor's message, in characters: enough for a sentence, not for HTML. */
const MAX_QUOTE_CHARS = 500;

/** Error types that tell more than the status does; needed for errors in the middle of a stream. */
const FAULT_OF_TYPE: Readonly<Record<string, ProviderFault>> = {
  overloaded_error: "rate-limited",
  rate_limit_error: "rate-limited",
  rate_limit_exceeded: "rate-limited",
  too_many_requests: "rate-limited",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  // Amazon's types, as spelled in HTTP headers and in frames.
  ThrottlingException: "rate-limited",
  throttlingException: "rate-limited",
  ServiceUnavailableException: "rate-limited",
  serviceUnavailableException: "rate-limited",
  RESOURCE_EXHAUSTED: "rate-limited",
  // From Google's models: "The model is overloaded. Please try again later."
  UNAVAILABLE: "rate-limited",
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
};

/** The request itself was not at fault. */
export function isServerFault({ status, vendorType }: ProviderError): boolean {
  return status === undefined ? SERVER_TYPES.has(vendorType ?? "") : status >= 500;
}

const SERVER_TYPES = new Set([
  "api_error",
  "server_error",
  "internal_server_error",
  "timeout_error",
  "INTERNAL",
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
]);

/** The part that is read. The body of a failure is not longer; an event of a stream may be. */
const MAX_READ_CHARS = 64 * 1024;

/** Masks the text before it is cut: half of a key is a leak too. */
export function quoteVendor(vendor: Vendor, text: string): string {
  const line = redact(vendor.mask(text.slice(0, MAX_READ_CHARS)))
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= MAX_QUOTE_CHARS ? line : `${line.slice(0, MAX_QUOTE_CHARS)}…`;
}

export function isHtmlPage(contentType: string, body: string): boolean {
  return contentType.includes("html") || /^\s*<(!doctype|html|head|body)\b/i.test(body);
}

/** Finds the error object in any vendor's shape: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`, `[{error}]`. */
function findErrorObject(body: unknown): JsonObject | undefined {
  const root = asObject(Array.isArray(body) ? body[0] : body);
  if (root === undefined) return undefined;
  const inner = asObject(root["error"]);
  if (inner !== undefined) return inner;
  const detail =
    asNonEmptyText(root["detail"]) ?? asNonEmptyText(asObject(asList(root["detail"])[0])?.["msg"]);
  const message = asNonEmptyText(root["error"]) ?? asNonEmptyText(root["message"]) ?? detail;
  return message === undefined ? undefined : { ...root, message };
}

function formatErrorMessage(error: JsonObject): string {
  const message = asNonEmptyText(error["message"]) ?? JSON.stringify(error["message"] ?? "no message");
  // OpenRouter's own message is "Provider returned error"; the provider's message is nested in it.
  const raw = asNonEmptyText(asObject(error["metadata"])?.["raw"]);
  return raw === undefined ? message : `${message}: ${raw}`;
}

function listErrorTypes(vendor: Vendor, error: JsonObject): readonly string[] {
  // Google names the kind in `status`, and its cause in a detail.
  const reasons = asList(error["details"]).map((detail) => asNonEmptyText(asObject(detail)?.["reason"]));
  const types = [
    asNonEmptyText(error["type"]),
    asNonEmptyText(error["code"]),
    asNonEmptyText(error["status"]),
    ...reasons,
  ];
  return types.filter((type) => type !== undefined).map((type) => quoteVendor(vendor, type));
}

/** Amazon sends the type in a header: `ValidationException:http://internal.amazon.com/…`. */
function listHeaderTypes(vendor: Vendor, headers: ResponseHeaders): readonly string[] {
  const type = asNonEmptyText(getHeader(headers, "x-amzn-errortype")?.split(":")[0]);
  return type === undefined ? [] : [quoteVendor(vendor, type)];
}

/** Classifies by OVF-01: overflow, then 429, then 401 and 403, else api. Overload, by status or by type, is a rate limit. */
function classifyFault(
  vendor: Vendor,
  status: number | undefined,
  types: readonly string[],
  text: string,
): ProviderFault {
  const isOverflowed = status === undefined ? isOverflowText(text) : isOverflow(status, text);
  if (isOverflowed || vendor.overflowPattern?.test(text) === true) return "overflow";
  if (status === 429 || status === 529) return "rate-limited";
  if (status === 401 || status === 403) return "auth";
  // Gemini answers 400 to an unknown key.
  if (types.includes("API_KEY_INVALID")) return "auth";
  // The vendor's type counts where the status does not help: in the middle of a stream, and for "overloaded" at any status.
  if (status === undefined || status >= 500) {
    const named = types.map((type) => getOwn(FAULT_OF_TYPE, type)).find((fault) => fault !== undefined);
    if (named !== undefined) return named;
  }
  const isServerError = status === undefined ? types.some((type) => SERVER_TYPES.has(type)) : status >= 500;
  return isServerError && vendor.retryServerErrors ? "network" : "api";
}

function formatSentence(
  vendor: Vendor,
  what: string,
  message: string,
  type?: string,
  requestId?: string,
): string {
  const facts = [type, requestId === undefined ? undefined : `request id ${requestId}`];
  const known = facts.filter((fact) => fact !== undefined).join(", ");
  return `${vendor.name} ${what}: ${quoteVendor(vendor, message)}${known === "" ? "" : ` (${known})`}`;
}

/** If no header contains the delay, the body may. */
function findRetryHint(error: JsonObject | undefined, fault: ProviderFault): number | undefined {
  return error === undefined || fault !== "rate-limited" ? undefined : parseRetryHintMs(error);
}

export type HttpFailure = {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The part that was read. */
  readonly body: string;
  /** The body was not read completely, so an empty one means nothing. */
  readonly isBodyIncomplete: boolean;
  readonly now: number;
};

/** Creates the error for an answer that is not 2xx. */
export function createHttpError(vendor: Vendor, failure: HttpFailure): ProviderError {
  const { status, headers, body } = failure;
  const error = findErrorObject(parseJson(body));
  const types = [
    ...listHeaderTypes(vendor, headers),
    ...(error === undefined ? [] : listErrorTypes(vendor, error)),
  ];
  const contentType = getHeader(headers, "content-type") ?? "";
  const bodyText = isHtmlPage(contentType, body) ? `an HTML page: ${extractPageText(body)}` : body;
  const message =
    error === undefined ? (body.trim() === "" ? "nothing" : bodyText) : formatErrorMessage(error);
  const requestId =
    findRequestId(vendor, headers) ?? toRequestId(vendor, asObject(parseJson(body))?.["request_id"]);
  const known = failure.isBodyIncomplete && body.trim() === "" ? "unreadable" : body;
  const fault = classifyFault(vendor, status, types, known);
  const delayMs = parseRetryAfterMs(headers, failure.now) ?? findRetryHint(error, fault);
  return new ProviderError(
    fault,
    formatSentence(vendor, `answered ${status}`, message, types[0], requestId),
    {
      status,
      requestId,
      vendorType: types[0],
      retryAfterMs: delayMs,
    },
  );
}

const REQUEST_ID_HEADERS = ["request-id", "x-request-id", "x-amzn-requestid"];

export function findRequestId(vendor: Vendor, headers: ResponseHeaders): string | undefined {
  return toRequestId(
    vendor,
    REQUEST_ID_HEADERS.map((name) => getHeader(headers, name)).find((id) => id !== undefined),
  );
}

/** Masks the id, like everything from the vendor. */
function toRequestId(vendor: Vendor, id: unknown): string | undefined {
  const given = asNonEmptyText(id);
  return given === undefined ? undefined : quoteVendor(vendor, given);
}

/** Creates the error for an error within a stream that began normally: the event's data, or its `error` field. */
export function createStreamError(vendor: Vendor, data: unknown, requestId?: string): ProviderError {
  const error = findErrorObject(data) ?? {};
  const types = listErrorTypes(vendor, error);
  // Groq sends `status_code`, OpenRouter a numeric `code`.
  const given = asCount(error["status_code"]) ?? asCount(error["code"]);
  const status = given !== undefined && given >= 400 && given < 600 ? given : undefined;
  const id = toRequestId(vendor, asObject(data)?.["request_id"]) ?? requestId;
  const fault = classifyFault(vendor, status, types, JSON.stringify(error));
  return new ProviderError(
    fault,
    formatSentence(vendor, "broke off its answer", formatErrorMessage(error), types[0], id),
    {
      status,
      requestId: id,
      vendorType: types[0],
      retryAfterMs: findRetryHint(error, fault),
    },
  );
}

/** Creates the error for a stream that ended, or was invalid, before the answer was complete. */
export function createBrokenStreamError(vendor: Vendor, what: string, cause?: unknown): ProviderError {
  return new ProviderError("network", `${vendor.name}: ${quoteVendor(vendor, what)}`, { cause });
}
