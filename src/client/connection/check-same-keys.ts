import type { Connection } from "@temporalio/client";
import { KEYS_VARIABLE, PLAIN } from "../../platform/encryption/key-references.ts";
import type { Encryption } from "../../platform/encryption/resolve-encryption.ts";
import {
  canReadEachOther,
  getKeyNames,
  type KeyNames,
  listKeyIds,
  parseIdentityKeys,
} from "../../platform/encryption/worker-keys.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** The number in `temporal.api.enums.v1.TaskQueueType`, part of the wire protocol. */
const WORKFLOW_QUEUE = 1;

/**
 * Checks that the workers of the queue and this process can decrypt each other's payloads. One such worker is enough: the
 * server lists workers for minutes after they have ended. If none polls, nothing can be checked.
 */
export async function checkSameKeys(
  connection: Connection,
  at: { readonly namespace: string; readonly taskQueue: string; readonly address: string },
  encryption: Encryption,
): Promise<void> {
  const { namespace, taskQueue } = at;
  const found = await connection.workflowService
    .describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_QUEUE })
    // A caller without permission to describe a queue may still use it.
    .catch(() => undefined);
  const ours = getKeyNames(encryption);
  const theirs = (found?.pollers ?? []).map(({ identity }) => parseIdentityKeys(identity ?? ""));
  const [other] = theirs;
  if (other === undefined || theirs.some((names) => canReadEachOther(ours, names))) return;
  throw createKeyMismatchError(ours, other, at);
}

function createKeyMismatchError(
  ours: KeyNames,
  theirs: KeyNames,
  { namespace, taskQueue, address }: { namespace: string; taskQueue: string; address: string },
): HoldfastError {
  return new HoldfastError(
    "key-mismatch",
    `The workers of task queue "${taskQueue}" at ${address} encrypt with other keys than this process: they have ` +
      `${listKeyIds(theirs)} (${describeKeys(theirs)}), this process has ${listKeyIds(ours)} (${describeKeys(ours)}). ` +
      `Nothing was sent. Set the same keys for both in ${KEYS_VARIABLE}; keys with the same name must have the same bytes.`,
    { address, namespace, taskQueue },
  );
}

function describeKeys([first]: KeyNames): string {
  return first === undefined || first === PLAIN
    ? "writing plain text"
    : `writing with ${listKeyIds([first])}`;
}
