import { parentPort, workerData } from "node:worker_threads";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { ToolSourceError } from "../tool-source.ts";
import { type LoadedApi, loadApi } from "./load-api.ts";

// The code of the thread that load-in-thread.ts starts.

export type LoadRequest = { readonly settings: OpenApiSettings; readonly workspace: string };

export type LoadReply =
  | { readonly ok: true; readonly loaded: LoadedApi }
  | { readonly ok: false; readonly isSourceError: boolean; readonly message: string };

const { settings, workspace } = workerData as LoadRequest;
void loadApi(settings, workspace)
  .then((loaded): LoadReply => ({ ok: true, loaded }))
  .catch(
    (error: unknown): LoadReply => ({
      ok: false,
      isSourceError: error instanceof ToolSourceError || error instanceof RangeError,
      message: error instanceof Error ? error.message : String(error),
    }),
  )
  .then((reply) => parentPort?.postMessage(reply));
