import { DefaultFailureConverter, type FailureConverter } from "@temporalio/common";
import { isEncryptedRun } from "./encrypted-run.ts";

const encrypting = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plaintext = new DefaultFailureConverter();

/**
 * Has the codec seal what failures say in a run whose words came sealed.
 *
 * By this name the bundler puts it into the workflow bundle.
 */
export const failureConverter: FailureConverter = {
  errorToFailure: (error, payloads, context) =>
    (isEncryptedRun() ? encrypting : plaintext).errorToFailure(error, payloads, context),
  failureToError: (failure, payloads, context) => plaintext.failureToError(failure, payloads, context),
};
