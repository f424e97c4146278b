import type { Client } from "@temporalio/client";
import { defaultPayloadConverter, type ProtoFailure } from "@temporalio/common";

/** Returns the decrypted message of a failure, or the reason why it cannot be decrypted. */
export async function decodeFailureMessage(
  client: Client,
  workflowId: string,
  failure: ProtoFailure | null | undefined,
): Promise<string | undefined> {
  if (!failure?.encodedAttributes) return failure?.message ?? undefined;
  const { payloadCodecs } = client.options.loadedDataConverter;
  const context = { type: "workflow", namespace: client.options.namespace, workflowId } as const;
  try {
    let payloads = [failure.encodedAttributes];
    for (const codec of payloadCodecs) payloads = await codec.decode(payloads, context);
    const [payload] = payloads;
    const message = payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);
    return (message as { message?: string } | undefined)?.message ?? failure.message ?? undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
