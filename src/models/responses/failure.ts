import { streamError, type Vendor } from "../classify.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";
import type { ProviderError } from "../provider-error.ts";

/**
 * An `error` event, in the shapes that it has: the fields of the error in the event itself, as the API's description
 * says; beneath `error`, as its servers send it; or a text that is not JSON.
 */
export function eventError(
  vendor: Vendor,
  event: JsonObject | undefined,
  data: string,
  requestId: string | undefined,
): ProviderError {
  if (event === undefined) return streamError(vendor, { error: data }, requestId);
  const message = textOf(event["error"]);
  if (message !== undefined) return streamError(vendor, { error: { message } }, requestId);
  if (objectOf(event["error"]) !== undefined) return streamError(vendor, event, requestId);
  // Its own `type` is that of the event.
  const { type: _type, ...error } = event;
  return streamError(vendor, { error }, requestId);
}

/** The end of a response that failed. */
export function responseError(
  vendor: Vendor,
  response: JsonObject,
  status: string,
  requestId: string | undefined,
): ProviderError {
  const error = objectOf(response["error"]) ?? { message: `the response is ${status}, without a reason` };
  return streamError(vendor, { error }, requestId);
}
