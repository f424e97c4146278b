import { asFields, getOwn, parseJson } from "../../platform/text/json.ts";
import { asCount, asNonEmptyText } from "../json.ts";
import type { ProviderError } from "../provider-error.ts";
import { createStreamError, type Vendor } from "../provider-error-from-response.ts";

/** The status that the API would have returned before the start of the answer. */
const STATUS_BY_EXCEPTION: Readonly<Record<string, number>> = {
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

/** Nova's message for an input that does not fit: "Input Tokens Exceeded: Number of input tokens exceeds maximum length." */
export const BEDROCK_OVERFLOW_PATTERN = /input tokens exceeded|exceeds maximum length/i;

/** Creates the error for a frame that reports a failure in the middle of an answer. */
export function createFrameError(
  vendor: Vendor,
  name: string,
  data: string,
  requestId?: string,
): ProviderError {
  const body = asFields(parseJson(data));
  const message =
    asNonEmptyText(body["message"]) ?? asNonEmptyText(body["Message"]) ?? (data.trim() || "no message");
  const original = asNonEmptyText(body["originalMessage"]);
  const status = asCount(body["originalStatusCode"]) ?? getOwn(STATUS_BY_EXCEPTION, name);
  const error = {
    message: original === undefined ? message : `${message}: ${original}`,
    type: name === "" ? "unnamed error" : name,
    ...(status !== undefined && { status_code: status }),
  };
  return createStreamError({ ...vendor, overflowPattern: BEDROCK_OVERFLOW_PATTERN }, { error }, requestId);
}
