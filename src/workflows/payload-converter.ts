import {
  type ConverterHint,
  DefaultPayloadConverter,
  type Payload,
  type SerializationContext,
} from "@temporalio/common";
import { markEncrypted } from "./encrypted-run.ts";

/** The replacement of a payload that cannot be decoded. No handler accepts it. */
export const UNREADABLE = Object.freeze({ unreadable: true });

/** A payload that a codec has encrypted waits for a worker that can decrypt it. */
const ENCRYPTED = "binary/encrypted";

/**
 * Decodes the payloads that arrive in a workflow.
 *
 * A signal that was sent by hand and is not valid JSON would fail every later workflow task of the run. Its handler
 * gets `UNREADABLE` instead and ignores it. Results of activities are Holdfast's own: there an error stays an error.
 */
class LenientPayloadConverter extends DefaultPayloadConverter {
  override fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
    markEncrypted(payload);
    try {
      return super.fromPayload<T>(payload, context, hint);
    } catch (error) {
      const encoding = new TextDecoder().decode(payload.metadata?.["encoding"] ?? new Uint8Array());
      if (context?.type !== "workflow" || encoding === ENCRYPTED) throw error;
      return UNREADABLE as T;
    }
  }
}

/** The bundler adds this converter to the workflow bundle by its name. */
export const payloadConverter = new LenientPayloadConverter();
