import { parentPort, workerData } from "node:worker_threads";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { OutsideError } from "../source.ts";
import { type Loaded, load } from "./load.ts";

// What runs in the thread of load-in-thread.ts.

export type Order = { readonly settings: OpenApiSettings; readonly workspace: string };

export type Reply =
  | { readonly ok: true; readonly loaded: Loaded }
  | { readonly ok: false; readonly outside: boolean; readonly message: string };

const { settings, workspace } = workerData as Order;
void load(settings, workspace)
  .then((loaded): Reply => ({ ok: true, loaded }))
  .catch(
    (error: unknown): Reply => ({
      ok: false,
      outside: error instanceof OutsideError || error instanceof RangeError,
      message: error instanceof Error ? error.message : String(error),
    }),
  )
  .then((reply) => parentPort?.postMessage(reply));
