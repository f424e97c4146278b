import type { Client } from "@temporalio/client";
import { defaultPayloadConverter, type ProtoFailure } from "@temporalio/common";

/** What a failure says as the server has it, opened where it is sealed. Where it cannot be opened, why. */
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
