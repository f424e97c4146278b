import { DefaultFailureConverter, type FailureConverter } from "@temporalio/common";
import { isEncryptedRun } from "./encrypted-run.ts";

const encrypting = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plaintext = new DefaultFailureConverter();

/**
 * Encodes failures through the payload codec in a run whose payloads arrived encrypted.
 *
 * The bundler adds this converter to the workflow bundle by its name.
 */
export const failureConverter: FailureConverter = {
  errorToFailure: (error, payloads, context) =>
    (isEncryptedRun() ? encrypting : plaintext).errorToFailure(error, payloads, context),
  failureToError: (failure, payloads, context) => plaintext.failureToError(failure, payloads, context),
};
