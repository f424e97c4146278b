import type { AgentDefinition } from "../../../schema/definition.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import type { ExecutableTool } from "../../tool.ts";
import type { PinContext, PinnedPart, ToolSource } from "../source.ts";
import { loadInThread } from "./load-in-thread.ts";
import type { Secrets } from "./secrets.ts";
import { Sender } from "./send.ts";
import { openApiTool } from "./tool.ts";

export type OpenApiOptions = {
  /** Asked at the moment of each call. */
  readonly secrets: Secrets;
};

/** APIs that definitions name by their OpenAPI documents: each operation is a tool. */
export class OpenApiSource implements ToolSource {
  readonly kind = "openapi";
  readonly #secrets: Secrets;
  readonly #sender = new Sender();

  constructor({ secrets }: OpenApiOptions) {
    this.#secrets = secrets;
  }

  isAsked({ openapi }: AgentDefinition): boolean {
    return openapi !== undefined && openapi.length > 0;
  }

  async pin({ openapi = [] }: AgentDefinition, context: PinContext): Promise<PinnedPart> {
    const loaded = await Promise.all(openapi.map((settings) => this.#load(settings, context)));
    return {
      tools: loaded.flatMap(({ tools }) => tools),
      warnings: loaded.flatMap(({ warnings }) => warnings),
    };
  }

  tool(pinned: PinnedTool): ExecutableTool {
    return openApiTool(pinned, { secrets: this.#secrets, sender: this.#sender });
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }

  async #load(settings: OpenApiSettings, { workspace, signal, log }: PinContext) {
    const begun = performance.now();
    const loaded = await loadInThread(settings, workspace, signal);
    const ms = Math.round(performance.now() - begun);
    log.info({ openapi: settings.name, tools: loaded.tools.length, ms }, "An OpenAPI document was read");
    return loaded;
  }
}
