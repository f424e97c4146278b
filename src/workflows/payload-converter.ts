import { defaultPayloadConverter, type PayloadConverter } from "@temporalio/common";
import { inWorkflowContext, workflowInfo } from "@temporalio/workflow";
import { markEncrypted } from "./encrypted-run.ts";
import { WORKFLOW_NAMES } from "./messages.ts";

/** The replacement of a payload that cannot be decoded. No handler accepts it. */
export const UNREADABLE = Object.freeze({ unreadable: true });

/** A payload that a codec has encrypted waits for a worker that can decrypt it. */
const ENCRYPTED = "binary/encrypted";

/**
 * Returns a converter that decodes the payloads that arrive in a workflow as another one does.
 *
 * A signal that was sent by hand and is not valid JSON would fail every later workflow task of the run. Its handler
 * gets `UNREADABLE` instead and ignores it. Results of activities are Holdfast's own: there an error stays an error. In
 * workflows of an application, an error stays an error too.
 */
export function createLenientConverter(inner: PayloadConverter): PayloadConverter {
  return {
    toPayload: (value, context, hint) => inner.toPayload(value, context, hint),
    fromPayload: (payload, context, hint) => {
      markEncrypted(payload);
      try {
        return inner.fromPayload(payload, context, hint);
      } catch (error) {
        const encoding = new TextDecoder().decode(payload.metadata?.["encoding"] ?? new Uint8Array());
        if (context?.type !== "workflow" || encoding === ENCRYPTED || !isOwnWorkflow()) throw error;
        return UNREADABLE as never;
      }
    },
    ...(inner.validateConverterHint === undefined
      ? {}
      : { validateConverterHint: (hint) => inner.validateConverterHint?.(hint) ?? false }),
  };
}

function isOwnWorkflow(): boolean {
  return inWorkflowContext() && WORKFLOW_NAMES.includes(workflowInfo().workflowType);
}

/** The bundler adds this converter to the workflow bundle by its name. */
export const payloadConverter = createLenientConverter(defaultPayloadConverter);
