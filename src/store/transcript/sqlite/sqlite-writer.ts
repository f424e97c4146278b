import { Worker } from "node:worker_threads";
import type { OperationArguments, OperationName, OperationResult } from "../sql/operations.ts";
import { StoreError } from "../store-error.ts";
import { toError } from "./thread-error.ts";
import type { Close, Reply, Request, ThreadData, ThreadOpened } from "./writer-thread.ts";

/** The most operations in one commit: about 20 ms of work. */
const BATCH = 256;

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/**
 * The main thread's end of the writer: sends operations and returns their answers after they are on disk.
 *
 * Operations that are requested during a commit wait for its answer, and are sent together: each message wakes the other
 * thread, and their commit shares one fsync.
 *
 * The thread keeps the process alive only while an answer is pending.
 */
export class SqliteWriter {
  readonly #data: ThreadData;
  readonly #waiting = new Map<number, Waiting>();
  readonly #unsent: Request[] = [];
  #isCommitting = false;
  #thread: Worker | undefined;
  #starting: Promise<void> | undefined;
  #nextId = 0;
  #closed = false;

  private constructor(data: ThreadData) {
    this.#data = data;
  }

  /** Opens a new or existing file in a thread of its own. */
  static async open(data: ThreadData): Promise<SqliteWriter> {
    const writer = new SqliteWriter(data);
    await writer.#getThread();
    return writer;
  }

  async write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    if (this.#closed) throw new StoreError("other", `The transcript ${this.#data.path} is closed.`);
    if (this.#thread === undefined) await this.#getThread();
    return (await this.#send(name, values)) as OperationResult<Name>;
  }

  /** Resolves when all earlier operations are on disk or have failed, and the thread has ended. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#starting?.catch(() => undefined);
    const thread = this.#thread;
    if (thread === undefined) return;
    thread.ref();
    while (this.#unsent.length > 0) this.#sendBatch(thread);
    const ended = new Promise<void>((resolve) => {
      thread.once("exit", () => resolve());
    });
    thread.postMessage({ close: true } satisfies Close);
    await ended;
  }

  #send(name: OperationName, values: readonly unknown[]): Promise<unknown> {
    const thread = this.#thread;
    if (thread === undefined) {
      return Promise.reject(
        new StoreError("other", `The writer of transcript ${this.#data.path} has ended.`),
      );
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      if (this.#waiting.size === 0) thread.ref();
      this.#waiting.set(id, { resolve, reject });
      this.#unsent.push({ id, name, values });
      if (!this.#isCommitting) this.#sendBatch(thread);
    });
  }

  #sendBatch(thread: Worker): void {
    this.#isCommitting = false;
    while (!this.#isCommitting && this.#unsent.length > 0)
      this.#isCommitting = this.#post(thread, this.#unsent.splice(0, BATCH));
  }

  /** Returns whether an answer will come. An operation with a value that cannot be sent fails alone. */
  #post(thread: Worker, requests: readonly Request[]): boolean {
    try {
      thread.postMessage(requests);
      return true;
    } catch (error) {
      if (requests.length > 1) return requests.filter((request) => this.#post(thread, [request])).length > 0;
      for (const { id } of requests) this.#settle(id, (waiting) => waiting.reject(error as Error));
      return false;
    }
  }

  #getThread(): Promise<void> {
    this.#starting ??= this.#startThread().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  #startThread(): Promise<void> {
    // The thread does not inherit the process's flags: some, such as --eval, prevent its start.
    const options = { workerData: this.#data, name: "holdfast-transcript", execArgv: [] };
    const thread = new Worker(findThreadEntry(), options);
    return new Promise((resolve, reject) => {
      thread.once("message", (opened: ThreadOpened) => {
        if ("failure" in opened) {
          reject(toError(opened.failure));
          return;
        }
        this.#thread = thread;
        this.#isCommitting = false;
        thread.on("message", (replies: Reply[]) => this.#settleReplies(thread, replies));
        thread.unref();
        resolve();
      });
      const handleEnd = (error: Error): void => {
        reject(error);
        if (this.#thread === thread) this.#thread = undefined;
        this.#rejectAll(error);
      };
      thread.once("error", (cause) => {
        const message = `The writer of transcript ${this.#data.path} failed: ${cause.message}`;
        handleEnd(new StoreError("other", message, { cause }));
      });
      thread.once("exit", () => {
        handleEnd(new StoreError("other", `The writer of transcript ${this.#data.path} has ended.`));
      });
    });
  }

  #settleReplies(thread: Worker, replies: readonly Reply[]): void {
    this.#sendBatch(thread);
    for (const reply of replies) {
      this.#settle(reply.id, ({ resolve, reject }) => {
        if ("failure" in reply) reject(toError(reply.failure));
        else resolve(reply.value);
      });
    }
  }

  #settle(id: number, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting !== undefined) settle(waiting);
    if (this.#waiting.size === 0 && !this.#closed) this.#thread?.unref();
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#unsent.length = 0;
  }
}

/** Finds the thread's file. A thread of Node 20 loads only JavaScript: sources use the compiled file of the build. */
function findThreadEntry(): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  const entry = fromSources
    ? "../../../../dist/store/transcript/sqlite/writer-thread.js"
    : "./writer-thread.js";
  return new URL(entry, import.meta.url);
}
