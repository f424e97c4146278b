import { isOverflow, isOverflowText } from "../platform/text/overflow.ts";
import { redact } from "../platform/text/redact.ts";
import { countOf, type JsonObject, listOf, objectOf, ownOf, parseJson, textOf } from "./json.ts";
import type { Mask } from "./mask.ts";
import { textOfPage } from "./page.ts";
import { ProviderError, type ProviderFault } from "./provider-error.ts";
import { retryHintMs } from "./rate-limits/retry-hint.ts";
import { headerOf, type ResponseHeaders, retryAfterMs } from "./retry-after.ts";

/** Who is spoken to, and how its errors are read. */
export type Vendor = {
  readonly name: string;
  readonly mask: Mask;
  /** Server errors count as `network`, so that they are asked again (GAP-14). Off unless asked for. */
  readonly retryServerErrors: boolean;
  /** Its own words for an input that does not fit, beside those that all share. */
  readonly overflow?: RegExp | undefined;
};

/** Longest piece of a vendor's message in ours, in characters: room for its sentence, not for its HTML. */
const MAX_QUOTE_CHARS = 500;

/** Types by which vendors say more than the status does; needed where an error arrives in mid-stream. */
const FAULT_OF_TYPE: Readonly<Record<string, ProviderFault>> = {
  overloaded_error: "rate-limited",
  rate_limit_error: "rate-limited",
  rate_limit_exceeded: "rate-limited",
  too_many_requests: "rate-limited",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  // Amazon's, as an HTTP header and as a frame spell them.
  ThrottlingException: "rate-limited",
  throttlingException: "rate-limited",
  ServiceUnavailableException: "rate-limited",
  serviceUnavailableException: "rate-limited",
  RESOURCE_EXHAUSTED: "rate-limited",
  // Of Google's models: "The model is overloaded. Please try again later."
  UNAVAILABLE: "rate-limited",
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
};

/** Nothing was wrong with the question. */
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

/** What is read of it; a body of a failure has no more, an event of a stream may. */
const READ_CHARS = 64 * 1024;

/** Masked before it is cut: half of a key is a leak too. */
export function quote(vendor: Vendor, text: string): string {
  const line = redact(vendor.mask(text.slice(0, READ_CHARS)))
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= MAX_QUOTE_CHARS ? line : `${line.slice(0, MAX_QUOTE_CHARS)}…`;
}

export function looksLikePage(contentType: string, body: string): boolean {
  return contentType.includes("html") || /^\s*<(!doctype|html|head|body)\b/i.test(body);
}

/** The error object in the shapes that vendors use: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`, `[{error}]`. */
function errorIn(body: unknown): JsonObject | undefined {
  const root = objectOf(Array.isArray(body) ? body[0] : body);
  if (root === undefined) return undefined;
  const inner = objectOf(root["error"]);
  if (inner !== undefined) return inner;
  const detail = textOf(root["detail"]) ?? textOf(objectOf(listOf(root["detail"])[0])?.["msg"]);
  const message = textOf(root["error"]) ?? textOf(root["message"]) ?? detail;
  return message === undefined ? undefined : { ...root, message };
}

function messageIn(error: JsonObject): string {
  const message = textOf(error["message"]) ?? JSON.stringify(error["message"] ?? "no message");
  // OpenRouter's own message is "Provider returned error"; what the provider said is beneath.
  const raw = textOf(objectOf(error["metadata"])?.["raw"]);
  return raw === undefined ? message : `${message}: ${raw}`;
}

function typesIn(vendor: Vendor, error: JsonObject): readonly string[] {
  // Google names the kind in `status`, and what lies behind it in a detail.
  const reasons = listOf(error["details"]).map((detail) => textOf(objectOf(detail)?.["reason"]));
  const types = [textOf(error["type"]), textOf(error["code"]), textOf(error["status"]), ...reasons];
  return types.filter((type) => type !== undefined).map((type) => quote(vendor, type));
}

/** Amazon puts the type beside the body: `ValidationException:http://internal.amazon.com/…`. */
function headerTypes(vendor: Vendor, headers: ResponseHeaders): readonly string[] {
  const type = textOf(headerOf(headers, "x-amzn-errortype")?.split(":")[0]);
  return type === undefined ? [] : [quote(vendor, type)];
}

/** OVF-01: overflow, then 429, then 401 and 403, else api. Overload, by status or by type, is a rate limit. */
function faultOf(
  vendor: Vendor,
  status: number | undefined,
  types: readonly string[],
  text: string,
): ProviderFault {
  const overflowed = status === undefined ? isOverflowText(text) : isOverflow(status, text);
  if (overflowed || vendor.overflow?.test(text) === true) return "overflow";
  if (status === 429 || status === 529) return "rate-limited";
  if (status === 401 || status === 403) return "auth";
  // Gemini says 400 to a key that it does not know.
  if (types.includes("API_KEY_INVALID")) return "auth";
  // The vendor's word counts where the status is of no help: in mid-stream, and for "overloaded" at any status.
  if (status === undefined || status >= 500) {
    const named = types.map((type) => ownOf(FAULT_OF_TYPE, type)).find((fault) => fault !== undefined);
    if (named !== undefined) return named;
  }
  const server = status === undefined ? types.some((type) => SERVER_TYPES.has(type)) : status >= 500;
  return server && vendor.retryServerErrors ? "network" : "api";
}

function sentence(vendor: Vendor, what: string, said: string, type?: string, requestId?: string): string {
  const facts = [type, requestId === undefined ? undefined : `request id ${requestId}`];
  const known = facts.filter((fact) => fact !== undefined).join(", ");
  return `${vendor.name} ${what}: ${quote(vendor, said)}${known === "" ? "" : ` (${known})`}`;
}

/** Where no header says how long to wait, the body may. */
function hintIn(error: JsonObject | undefined, fault: ProviderFault): number | undefined {
  return error === undefined || fault !== "rate-limited" ? undefined : retryHintMs(error);
}

export type HttpFailure = {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** As much of it as was read. */
  readonly body: string;
  /** The body could not be read to its end, so that its being blank says nothing. */
  readonly bodyLost: boolean;
  readonly now: number;
};

/** An answer that is not 2xx. */
export function httpError(vendor: Vendor, failure: HttpFailure): ProviderError {
  const { status, headers, body } = failure;
  const error = errorIn(parseJson(body));
  const types = [...headerTypes(vendor, headers), ...(error === undefined ? [] : typesIn(vendor, error))];
  const contentType = headerOf(headers, "content-type") ?? "";
  const plain = looksLikePage(contentType, body) ? `an HTML page: ${textOfPage(body)}` : body;
  const said = error === undefined ? (body.trim() === "" ? "nothing" : plain) : messageIn(error);
  const requestId =
    requestIdIn(vendor, headers) ?? requestIdOf(vendor, objectOf(parseJson(body))?.["request_id"]);
  const known = failure.bodyLost && body.trim() === "" ? "unreadable" : body;
  const fault = faultOf(vendor, status, types, known);
  const delayMs = retryAfterMs(headers, failure.now) ?? hintIn(error, fault);
  return new ProviderError(fault, sentence(vendor, `answered ${status}`, said, types[0], requestId), {
    status,
    requestId,
    vendorType: types[0],
    retryAfterMs: delayMs,
  });
}

const REQUEST_ID_HEADERS = ["request-id", "x-request-id", "x-amzn-requestid"];

export function requestIdIn(vendor: Vendor, headers: ResponseHeaders): string | undefined {
  return requestIdOf(
    vendor,
    REQUEST_ID_HEADERS.map((name) => headerOf(headers, name)).find((id) => id !== undefined),
  );
}

/** Masked like everything that the vendor wrote. */
function requestIdOf(vendor: Vendor, id: unknown): string | undefined {
  const given = textOf(id);
  return given === undefined ? undefined : quote(vendor, given);
}

/** An error that arrives inside a stream which began well: the event's data, or its `error` field. */
export function streamError(vendor: Vendor, data: unknown, requestId?: string): ProviderError {
  const error = errorIn(data) ?? {};
  const types = typesIn(vendor, error);
  // Groq says `status_code`, OpenRouter a numeric `code`.
  const given = countOf(error["status_code"]) ?? countOf(error["code"]);
  const status = given !== undefined && given >= 400 && given < 600 ? given : undefined;
  const id = requestIdOf(vendor, objectOf(data)?.["request_id"]) ?? requestId;
  const fault = faultOf(vendor, status, types, JSON.stringify(error));
  return new ProviderError(fault, sentence(vendor, "broke off its answer", messageIn(error), types[0], id), {
    status,
    requestId: id,
    vendorType: types[0],
    retryAfterMs: hintIn(error, fault),
  });
}

/** The stream ended, or made no sense, before the answer was complete. */
export function brokenStream(vendor: Vendor, what: string, cause?: unknown): ProviderError {
  return new ProviderError("network", `${vendor.name}: ${quote(vendor, what)}`, { cause });
}
