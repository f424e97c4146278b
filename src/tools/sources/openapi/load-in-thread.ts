import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { OutsideError } from "../source.ts";
import type { Loaded } from "./load.ts";
import type { Order, Reply } from "./thread.ts";

/** A document of 13 MiB needs a sixth of it. */
const MAX_HEAP_MB = 1024;

/**
 * `load` in a thread of its own: however large or hostile a document is, the worker goes on, and time and memory end.
 * No secret is known there.
 */
export function loadInThread(
  settings: OpenApiSettings,
  workspace: string,
  signal: AbortSignal,
): Promise<Loaded> {
  const thread = new Worker(threadFile(), {
    workerData: { settings, workspace } satisfies Order,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    execArgv: [],
  });
  const { readTimeoutMs } = settings.limits;
  return new Promise<Loaded>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      void thread.terminate();
    };
    const fail = (error: Error) => {
      end();
      reject(error);
    };
    const refuse = (why: string) =>
      fail(new OutsideError(`The OpenAPI document ${settings.spec} was not read to its end: ${why}`));
    const timer = setTimeout(
      () => refuse(`it took more than ${readTimeoutMs} ms; limits.readTimeoutMs can allow more`),
      readTimeoutMs,
    );
    const onAbort = () => fail(signal.reason instanceof Error ? signal.reason : new Error("cancelled"));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    thread.once("message", (reply: Reply) => {
      if (!reply.ok) return fail(reply.outside ? new OutsideError(reply.message) : new Error(reply.message));
      end();
      resolve(reply.loaded);
    });
    thread.once("error", (error: NodeJS.ErrnoException) =>
      refuse(
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? `it needs more than ${MAX_HEAP_MB} MiB` : error.message,
      ),
    );
    thread.once("exit", (code) => refuse(`its reader ended with ${code}`));
  });
}

/** A thread runs what was built. */
function threadFile(): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../../../dist/tools/sources/openapi/" : "./";
  return fileURLToPath(new URL(`${folder}thread.js`, import.meta.url));
}
