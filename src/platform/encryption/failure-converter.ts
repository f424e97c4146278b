import { DefaultFailureConverter, type FailureConverter, type ProtoFailure } from "@temporalio/common";
import { KeyError } from "./key-error.ts";

const encryptingConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plainConverter = new DefaultFailureConverter();

/**
 * Has the codec seal what failures say, but for one: whoever lacks a key could not read that it is missing.
 *
 * By this name the worker loads it, where payloads are sealed.
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
