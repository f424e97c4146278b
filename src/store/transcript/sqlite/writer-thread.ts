import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import {
  type EncryptionOptions,
  resolveEncryption,
} from "../../../platform/encryption/resolve-encryption.ts";
import { EncryptedColumns } from "../sql/column-encryption.ts";
import { type OperationName, runOperation } from "../sql/operations.ts";
import { type Answer, Committer, type Work } from "./committer.ts";
import { runWork } from "./sqlite-connection.ts";
import { type ThreadFailure, toThreadFailure } from "./thread-error.ts";

// The writer's thread: collects pending operations, writes them in one commit, and answers.

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

/** The maximum number of requests in one commit: about 20 ms of work. */
const BATCH = 256;

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

  port.on("message", (first: Request | Close) => {
    const requests: Request[] = [];
    let closing = false;
    const receive = (message: Request | Close): void => {
      if ("close" in message) closing = true;
      else requests.push(message);
    };
    const receiveAll = (): Work[] => {
      const firstNew = requests.length;
      while (!closing && requests.length < BATCH) {
        const received = receiveMessageOnPort(port);
        if (received === undefined) break;
        receive(received.message);
      }
      return requests.slice(firstNew).map(toWork);
    };
    receive(first);
    const known = [...requests.map(toWork), ...receiveAll()];
    if (known.length > 0) {
      const answers = committer.commit(known, receiveAll);
      port.postMessage(requests.map((request, index) => postReply(request, answers[index]!)));
    }
    if (closing) {
      committer.close();
      port.close();
    }
  });
}

function postReply({ id }: Request, answer: Answer): Reply {
  return answer.ok ? { id, value: answer.value } : { id, failure: toThreadFailure(answer.error) };
}

if (parentPort !== null) serveWrites(parentPort, workerData as ThreadData);
