import { asObject, type JsonObject } from "../../platform/text/json.ts";
import { asNonEmptyText } from "../json.ts";
import type { ProviderError } from "../provider-error.ts";
import { createStreamError, type Vendor } from "../provider-error-from-response.ts";

/**
 * Creates the error for an `error` event in any of its shapes: the error's fields in the event itself, as the API's
 * reference specifies; nested in `error`, as its servers send it; or a text that is not JSON.
 */
export function createEventError(
  vendor: Vendor,
  event: JsonObject | undefined,
  data: string,
  requestId: string | undefined,
): ProviderError {
  if (event === undefined) return createStreamError(vendor, { error: data }, requestId);
  const message = asNonEmptyText(event["error"]);
  if (message !== undefined) return createStreamError(vendor, { error: { message } }, requestId);
  if (asObject(event["error"]) !== undefined) return createStreamError(vendor, event, requestId);
  // The event's own `type` is not the type of the error.
  const { type: _type, ...error } = event;
  return createStreamError(vendor, { error }, requestId);
}

/** Creates the error for a response that failed. */
export function createResponseError(
  vendor: Vendor,
  response: JsonObject,
  status: string,
  requestId: string | undefined,
): ProviderError {
  const error = asObject(response["error"]) ?? { message: `the response is ${status}, without a reason` };
  return createStreamError(vendor, { error }, requestId);
}
