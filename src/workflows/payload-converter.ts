import {
  type ConverterHint,
  DefaultPayloadConverter,
  type Payload,
  type SerializationContext,
} from "@temporalio/common";
import { markEncrypted } from "./encrypted-run.ts";

/** What stands for words that nobody can read: nothing that a handler takes. */
export const UNREADABLE = Object.freeze({ unreadable: true });

/** What a payload codec has sealed waits for a worker that can open it. */
const ENCRYPTED = "binary/encrypted";

/**
 * Reads what comes into a workflow.
 *
 * A signal that was sent by hand and is no JSON would fail every workflow task of the run from then on; here its
 * handler gets it as `UNREADABLE`, and overhears it. Answers of activities are ours: there a fault stays a fault.
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

/** By this name the bundler puts it into the workflow bundle. */
export const payloadConverter = new LenientPayloadConverter();
