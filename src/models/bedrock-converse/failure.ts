import { streamError, type Vendor } from "../classify.ts";
import { countOf, objectOf, ownOf, parseJson, textOf } from "../json.ts";
import type { ProviderError } from "../provider-error.ts";

/** What the API would have answered with, had it known before it began. */
const STATUS: Readonly<Record<string, number>> = {
  throttlingException: 429,
  modelNotReadyException: 429,
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  modelErrorException: 424,
  internalServerException: 500,
  serviceUnavailableException: 503,
};

/** Words of Nova's for an input that does not fit: "Input Tokens Exceeded: Number of input tokens exceeds maximum length." */
export const BEDROCK_OVERFLOW = /input tokens exceeded|exceeds maximum length/i;

/** A frame that says what went wrong in the middle of an answer. */
export function frameError(vendor: Vendor, name: string, data: string, requestId?: string): ProviderError {
  const body = objectOf(parseJson(data)) ?? {};
  const said = textOf(body["message"]) ?? textOf(body["Message"]) ?? (data.trim() || "no message");
  const original = textOf(body["originalMessage"]);
  const status = countOf(body["originalStatusCode"]) ?? ownOf(STATUS, name);
  const error = {
    message: original === undefined ? said : `${said}: ${original}`,
    type: name === "" ? "unnamed error" : name,
    ...(status !== undefined && { status_code: status }),
  };
  return streamError({ ...vendor, overflow: BEDROCK_OVERFLOW }, { error }, requestId);
}
