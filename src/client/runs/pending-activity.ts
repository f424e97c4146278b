import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { defaultPayloadConverter, type ProtoFailure } from "@temporalio/common";
import type { StepWait } from "../../conversation/step-wait.ts";
import { removeKeysFromIdentity } from "../../platform/encryption/worker-keys.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { ClientLink } from "../connection/client-link.ts";

export { formatWait } from "../../conversation/step-wait.ts";

const MAX_FAILURE_BYTES = 1024;

/** A step that the server waits for: what an operator reads when a run seems to make no progress. */
export type PendingActivity = {
  /** `call-model`, or a tool's name. */
  readonly type: string;
  /** Temporal's id of the activity, unique within its run. */
  readonly id: string;
  /** From 1; above 1, the vendor is asked again. */
  readonly attempt: number;
  /** The most attempts; `undefined` if there is no limit. */
  readonly maxAttempts: number | undefined;
  /** What the server says of the activity; `scheduled` waits for a worker or for its next attempt. */
  readonly state: "scheduled" | "started" | "cancel-requested" | "paused" | "unknown";
  /** The message of the last failed attempt, shortened to 1 KiB and redacted. */
  readonly lastFailure: string | undefined;
  /** When the next attempt is due, for a scheduled activity. */
  readonly nextAttemptAt: Date | undefined;
  /** When the newest attempt started. */
  readonly startedAt: Date | undefined;
  /** What it waits for before it asks a vendor. */
  readonly wait?: StepWait;
  /** The worker process that runs it. */
  readonly worker: string | undefined;
};

/** The numbers of `temporal.api.enums.v1.PendingActivityState`, part of the wire protocol. */
const STATES: Readonly<Record<number, PendingActivity["state"]>> = {
  1: "scheduled",
  2: "started",
  3: "cancel-requested",
  4: "paused",
  5: "paused",
};

const STARTED = 2;

type Raw = NonNullable<WorkflowExecutionDescription["raw"]["pendingActivities"]>[number];

export function listPendingActivities(
  { client }: Pick<ClientLink, "client">,
  { raw, workflowId }: WorkflowExecutionDescription,
): Promise<readonly PendingActivity[]> {
  const pending = async (raw: Raw): Promise<PendingActivity> => ({
    type: raw.activityType?.name ?? "",
    id: raw.activityId ?? "",
    attempt: raw.attempt ?? 1,
    maxAttempts: raw.maximumAttempts || undefined,
    state: STATES[Number(raw.state)] ?? "unknown",
    lastFailure: shortenFailure(await decodeFailureMessage(client, workflowId, raw.lastFailure)),
    nextAttemptAt:
      Number(raw.state) === 1 ? toDate(raw.nextAttemptScheduleTime ?? raw.scheduledTime) : undefined,
    startedAt: toDate(raw.lastStartedTime),
    ...(await decodeWait(client, workflowId, raw)),
    worker: removeKeysFromIdentity(raw.lastWorkerIdentity ?? "") || undefined,
  });
  return Promise.all((raw.pendingActivities ?? []).map(pending));
}

/** Returns the wait from the newest heartbeat; nothing if there is none, or it cannot be read. */
async function decodeWait(
  { options }: ClientLink["client"],
  workflowId: string,
  { heartbeatDetails, state }: Raw,
): Promise<{ wait?: StepWait }> {
  // After a failure, the heartbeat is that of the preceding attempt.
  if (Number(state) !== STARTED) return {};
  const { payloadCodecs } = options.loadedDataConverter;
  const context = { type: "workflow", namespace: options.namespace, workflowId } as const;
  try {
    let payloads = heartbeatDetails?.payloads ?? [];
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads, context);
    const [payload] = payloads;
    const heartbeat = payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);
    const { wait } = (heartbeat ?? {}) as { wait?: StepWait };
    return omitUndefined({ wait });
  } catch {
    return {};
  }
}

/** Shortens a failure: a vendor's message may contain the whole request. */
function shortenFailure(text: string | undefined): string | undefined {
  return text === undefined ? undefined : redactPreview(text, MAX_FAILURE_BYTES);
}

type Timestamp = { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined;

function toDate(stamp: Timestamp): Date | undefined {
  const seconds = Number(stamp?.seconds ?? 0);
  return seconds === 0 ? undefined : new Date(seconds * 1000 + (stamp?.nanos ?? 0) / 1e6);
}

/** Returns the decrypted message of a failure, or the reason why it cannot be decrypted. */
async function decodeFailureMessage(
  client: Client,
  workflowId: string,
  failure: ProtoFailure | null | undefined,
): Promise<string | undefined> {
  if (!failure?.encodedAttributes) return failure?.message ?? undefined;
  const { payloadCodecs } = client.options.loadedDataConverter;
  const context = { type: "workflow", namespace: client.options.namespace, workflowId } as const;
  try {
    let payloads = [failure.encodedAttributes];
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads, context);
    const [payload] = payloads;
    const message = payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);
    return (message as { message?: string } | undefined)?.message ?? failure.message ?? undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
