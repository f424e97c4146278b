import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { ToolSourceError } from "../tool-source.ts";
import type { LoadedApi } from "./load-api.ts";
import type { LoadReply, LoadRequest } from "./load-thread.ts";

/** A document of 13 MiB needs a sixth of it. */
const MAX_HEAP_MB = 1024;

/**
 * Loads in a separate thread: a large or hostile document does not stop the worker, and time and memory are limited.
 * The thread knows no secrets.
 */
export function loadInThread(
  settings: OpenApiSettings,
  workspace: string,
  signal: AbortSignal,
): Promise<LoadedApi> {
  const thread = new Worker(resolveThreadFile(), {
    workerData: { settings, workspace } satisfies LoadRequest,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    execArgv: [],
  });
  const { readTimeoutMs } = settings.limits;
  return new Promise<LoadedApi>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      void thread.terminate();
    };
    const fail = (error: Error) => {
      end();
      reject(error);
    };
    const rejectSource = (reason: string) =>
      fail(new ToolSourceError(`The OpenAPI document ${settings.spec} was not read completely: ${reason}`));
    const timer = setTimeout(
      () => rejectSource(`it took more than ${readTimeoutMs} ms; increase limits.readTimeoutMs to allow it`),
      readTimeoutMs,
    );
    const onAbort = () => fail(signal.reason instanceof Error ? signal.reason : new Error("cancelled"));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    thread.once("message", (reply: LoadReply) => {
      if (!reply.ok)
        return fail(reply.isSourceError ? new ToolSourceError(reply.message) : new Error(reply.message));
      end();
      resolve(reply.loaded);
    });
    thread.once("error", (error: NodeJS.ErrnoException) =>
      rejectSource(
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? `it needs more than ${MAX_HEAP_MB} MiB` : error.message,
      ),
    );
    thread.once("exit", (code) => rejectSource(`its reader ended with ${code}`));
  });
}

/** The thread runs the built code. */
function resolveThreadFile(): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../../../dist/tools/sources/openapi/" : "./";
  return fileURLToPath(new URL(`${folder}load-thread.js`, import.meta.url));
}
