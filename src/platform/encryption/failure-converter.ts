import { DefaultFailureConverter, type FailureConverter, type ProtoFailure } from "@temporalio/common";
import { KeyError } from "./key-error.ts";

const encryptingConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plainConverter = new DefaultFailureConverter();

/**
 * Lets the codec encrypt failures, except for the failure of a missing key, which a process without the key must read.
 *
 * The worker loads it by this name if payloads are encrypted.
 */
export const failureConverter: FailureConverter = {
  errorToFailure: (error, payloads, context): ProtoFailure =>
    (isKeyFailure(error) ? plainConverter : encryptingConverter).errorToFailure(error, payloads, context),
  failureToError: (failure, payloads, context) =>
    encryptingConverter.failureToError(failure, payloads, context),
};

function isKeyFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof KeyError || error.name === "KeyError" || isKeyFailure(error.cause);
}
