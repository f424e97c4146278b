import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type EncryptionOptions, encryptionOf } from "../../../platform/encryption/encryption.ts";
import { type OperationName, operation } from "../sql/operations.ts";
import { Vault } from "../sql/vault.ts";
import { type Answer, Committer, type Work } from "./committer.ts";
import { carryOut } from "./sql.ts";
import { type Failure, failureOf } from "./thread-error.ts";

// The writer's thread: takes what has come in, writes it in one commit, answers.

export type Request = {
  readonly id: number;
  readonly name: OperationName;
  readonly values: readonly unknown[];
};
export type Close = { readonly close: true };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };
export type Opened = { readonly opened: true } | { readonly failure: Failure };
export type ThreadData = {
  readonly path: string;
  readonly busyMs: number;
  /** References to keys: the keys themselves are read here. */
  readonly encryption: EncryptionOptions;
};

/** How many requests share a commit at most: some 20 ms of work. */
const BATCH = 256;

function serve(port: MessagePort, { path, busyMs, encryption }: ThreadData): void {
  const vault = new Vault(encryptionOf(encryption));
  const toWork =
    ({ name, values }: Request): Work =>
    (sql) =>
      carryOut(sql, vault.through(operation(name, values)));
  const committer = new Committer(path, busyMs);
  try {
    committer.open();
  } catch (error) {
    port.postMessage({ failure: failureOf(error) } satisfies Opened);
    port.close();
    return;
  }
  port.postMessage({ opened: true } satisfies Opened);

  port.on("message", (first: Request | Close) => {
    const requests: Request[] = [];
    let closing = false;
    const take = (message: Request | Close): void => {
      if ("close" in message) closing = true;
      else requests.push(message);
    };
    const takeAll = (): Work[] => {
      const begin = requests.length;
      while (!closing && requests.length < BATCH) {
        const received = receiveMessageOnPort(port);
        if (received === undefined) break;
        take(received.message);
      }
      return requests.slice(begin).map(toWork);
    };
    take(first);
    const known = [...requests.map(toWork), ...takeAll()];
    if (known.length > 0) {
      const answers = committer.commit(known, takeAll);
      port.postMessage(requests.map((request, index) => reply(request, answers[index]!)));
    }
    if (closing) {
      committer.close();
      port.close();
    }
  });
}

function reply({ id }: Request, answer: Answer): Reply {
  return answer.ok ? { id, value: answer.value } : { id, failure: failureOf(answer.error) };
}

if (parentPort !== null) serve(parentPort, workerData as ThreadData);
