import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { named } from "../names.ts";
import type { Loaded } from "./load.ts";
import { loadInThread } from "./load-in-thread.ts";

/** What an agent with nothing but this API would be offered. */
export type Inspected = Loaded;

export async function inspectOpenApi(settings: OpenApiSettings, folder: string): Promise<Inspected> {
  const loaded = await loadInThread(settings, folder, new AbortController().signal);
  return { ...loaded, tools: named(loaded.tools, []) };
}
