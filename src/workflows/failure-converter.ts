import { DefaultFailureConverter, type FailureConverter } from "@temporalio/common";
import { isSealedRun } from "./sealed-run.ts";

const seals = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plain = new DefaultFailureConverter();

/**
 * Has the codec seal what failures say in a run whose words came sealed.
 *
 * By this name the bundler puts it into the workflow bundle.
 */
export const failureConverter: FailureConverter = {
  errorToFailure: (error, payloads, context) =>
    (isSealedRun() ? seals : plain).errorToFailure(error, payloads, context),
  failureToError: (failure, payloads, context) => plain.failureToError(failure, payloads, context),
};
