import type { Connection } from "@temporalio/client";
import type { Encryption } from "../../platform/encryption/encryption.ts";
import { KEYS_VARIABLE, PLAIN } from "../../platform/encryption/key-references.ts";
import {
  idsIn,
  type KeyNames,
  keyNames,
  keysOfIdentity,
  understand,
} from "../../platform/encryption/worker-keys.ts";
import { HoldfastError } from "../error.ts";

/** Number of `temporal.api.enums.v1.TaskQueueType`, part of the wire protocol. */
const WORKFLOW_QUEUE = 1;

/**
 * Makes sure that the workers of the queue can read what is sent here, and the other way round. One that can is enough:
 * the server names workers for minutes after they have ended. Where none polls, nothing is known.
 */
export async function checkSameKeys(
  connection: Connection,
  at: { readonly namespace: string; readonly taskQueue: string; readonly address: string },
  encryption: Encryption,
): Promise<void> {
  const { namespace, taskQueue } = at;
  const found = await connection.workflowService
    .describeTaskQueue({ namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_QUEUE })
    // Whoever may not look at a queue may still use it.
    .catch(() => undefined);
  const ours = keyNames(encryption);
  const theirs = (found?.pollers ?? []).map(({ identity }) => keysOfIdentity(identity ?? ""));
  const [other] = theirs;
  if (other === undefined || theirs.some((names) => understand(ours, names))) return;
  throw differ(ours, other, at);
}

function differ(
  ours: KeyNames,
  theirs: KeyNames,
  { namespace, taskQueue, address }: { namespace: string; taskQueue: string; address: string },
): HoldfastError {
  return new HoldfastError(
    "keys-differ",
    `The workers of task queue "${taskQueue}" at ${address} encrypt with other keys than this process: they have ` +
      `${idsIn(theirs)} (${wordFor(theirs)}), here there is ${idsIn(ours)} (${wordFor(ours)}). Nothing was sent. ` +
      `Give both the same keys in ${KEYS_VARIABLE}; keys of the same name must hold the same bytes.`,
    { address, namespace, taskQueue },
  );
}

function wordFor([first]: KeyNames): string {
  return first === undefined || first === PLAIN ? "writing plain" : `writing with ${idsIn([first])}`;
}
