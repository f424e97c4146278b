import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import {
  type EncryptionOptions,
  resolveEncryption,
} from "../../../platform/encryption/resolve-encryption.ts";
import { EncryptedColumns } from "../sql/column-encryption.ts";
import { type OperationName, runOperation } from "../sql/operations.ts";
import { type Answer, Committer, type Work } from "./committer.ts";
import { runWork } from "./sqlite-connection.ts";
import { type ThreadFailure, toThreadFailure } from "./thread-error.ts";

// The writer's thread: writes the operations of each message in one commit, and answers.

export type Request = {
  readonly id: number;
  readonly name: OperationName;
  readonly values: readonly unknown[];
};
export type Close = { readonly close: true };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: ThreadFailure };
export type ThreadOpened = { readonly opened: true } | { readonly failure: ThreadFailure };
export type ThreadData = {
  readonly path: string;
  readonly busyMs: number;
  /** References to keys; this thread reads the keys themselves. */
  readonly encryption: EncryptionOptions;
};

function serveWrites(port: MessagePort, { path, busyMs, encryption }: ThreadData): void {
  const columns = new EncryptedColumns(resolveEncryption(encryption));
  const toWork =
    ({ name, values }: Request): Work =>
    (sql) =>
      runWork(sql, columns.encryptWork(runOperation(name, values)));
  const committer = new Committer(path, busyMs);
  try {
    committer.open();
  } catch (error) {
    port.postMessage({ failure: toThreadFailure(error) } satisfies ThreadOpened);
    port.close();
    return;
  }
  port.postMessage({ opened: true } satisfies ThreadOpened);

  port.on("message", (message: readonly Request[] | Close) => {
    if ("close" in message) {
      committer.close();
      port.close();
      return;
    }
    const answers = committer.commit(message.map(toWork));
    port.postMessage(message.map((request, index) => postReply(request, answers[index]!)));
  });
}

function postReply({ id }: Request, answer: Answer): Reply {
  return answer.ok ? { id, value: answer.value } : { id, failure: toThreadFailure(answer.error) };
}

if (parentPort !== null) serveWrites(parentPort, workerData as ThreadData);
