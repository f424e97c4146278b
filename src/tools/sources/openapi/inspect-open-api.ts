import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { assignToolNames } from "../tool-names.ts";
import type { LoadedApi } from "./load-api.ts";
import { loadInThread } from "./load-in-thread.ts";

/** The tools of an agent that uses only this API. */
export type ApiInspection = LoadedApi;

export async function inspectOpenApi(settings: OpenApiSettings, folder: string): Promise<ApiInspection> {
  const loaded = await loadInThread(settings, folder, new AbortController().signal);
  return { ...loaded, tools: assignToolNames(loaded.tools, []) };
}
