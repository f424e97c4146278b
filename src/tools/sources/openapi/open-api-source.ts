import type { AgentDefinition } from "../../../schema/definition.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type { ExecutableTool } from "../../tool.ts";
import type { PinContext, SourcePin, ToolSource } from "../tool-source.ts";
import { loadInThread } from "./load-in-thread.ts";
import { createOpenApiTool } from "./open-api-tool.ts";
import type { SecretLookup } from "./request-secrets.ts";
import { Sender } from "./sender.ts";

export type OpenApiOptions = {
  /** Resolves secrets at the moment of each call. */
  readonly secrets: SecretLookup;
};

/** Provides the APIs that definitions name by their OpenAPI documents: each operation is a tool. */
export class OpenApiSource implements ToolSource {
  readonly kind = "openapi";
  readonly #secrets: SecretLookup;
  readonly #sender = new Sender();

  constructor({ secrets }: OpenApiOptions) {
    this.#secrets = secrets;
  }

  isUsedBy({ openapi }: AgentDefinition): boolean {
    return openapi !== undefined && openapi.length > 0;
  }

  async pin({ openapi = [] }: AgentDefinition, context: PinContext): Promise<SourcePin> {
    const loaded = await Promise.all(openapi.map((settings) => this.#load(settings, context)));
    return {
      tools: loaded.flatMap(({ tools }) => tools),
      warnings: loaded.flatMap(({ warnings }) => warnings),
    };
  }

  createTool(pinned: PinnedTool): ExecutableTool {
    return createOpenApiTool(pinned, { secrets: this.#secrets, sender: this.#sender });
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }

  async #load(settings: OpenApiSettings, { workspace, signal, log }: PinContext) {
    const startedMs = performance.now();
    const loaded = await loadInThread(settings, workspace, signal);
    const ms = Math.round(performance.now() - startedMs);
    log.info({ openapi: settings.name, tools: loaded.tools.length, ms }, "An OpenAPI document was read");
    return loaded;
  }
}
