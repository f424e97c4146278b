import type { AgentDefinition } from "../../../schema/definition.ts";
import { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import type { ExecutableTool } from "../../tool.ts";
import {
  type LoopAtWork,
  OutsideError,
  type PinContext,
  type PinnedPart,
  type ToolSource,
} from "../source.ts";
import { McpError } from "./error.ts";
import { objectOf } from "./json.ts";
import { offered } from "./offered.ts";
import { Offers } from "./offers.ts";
import { McpPool, type PoolOptions } from "./pool.ts";
import { resourceTool, resourceTools } from "./resources.ts";
import { type Handlers, mcpTool } from "./tools.ts";

/** Tools of MCP servers. The servers live as long as the worker, and only as long as they are used. */
export class McpSource implements ToolSource {
  readonly kind = "mcp";
  readonly #pool: McpPool;
  readonly #handlers: Handlers;
  readonly #offers = new Offers((server) => this.#pool.known(server));

  constructor(options: PoolOptions & Handlers) {
    this.#pool = new McpPool({ ...options, listed: () => this.#offers.listed() });
    this.#handlers = {
      ...options,
      isTold: async ({ loopId }, server) =>
        loopId !== undefined && (await this.#offers.isTold(loopId, server)),
    };
  }

  isAsked({ mcp = [] }: AgentDefinition): boolean {
    return mcp.length > 0;
  }

  async pin({ mcp = [] }: AgentDefinition, context: PinContext): Promise<PinnedPart> {
    const parts = await Promise.all(mcp.map(async (server) => await this.#pinOne(server, context)));
    return {
      tools: parts.flatMap(({ tools = [] }) => tools),
      warnings: parts.flatMap(({ warnings = [] }) => warnings),
    };
  }

  tool(pinned: PinnedTool): ExecutableTool {
    const server = McpServer.parse(objectOf(pinned.data)?.["server"]);
    const keep = () => this.#pool.server(server);
    // A server may have tools of the same names.
    const ours = resourceTools(server).find(({ hash }) => hash === pinned.hash)?.remote;
    if (ours === "resources/list") return resourceTool(pinned, "list", server, keep);
    if (ours === "resources/read") return resourceTool(pinned, "read", server, keep);
    return mcpTool(pinned, server, keep, this.#handlers);
  }

  watch(definition: AgentDefinition, loop: LoopAtWork): void {
    this.#offers.watch(loop, definition);
  }

  unwatch(loopId: string): void {
    this.#offers.unwatch(loopId);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #pinOne(server: McpServer, { signal }: PinContext): Promise<PinnedPart> {
    try {
      const listing = await this.#pool.server(server).listing(signal);
      const { tools, warnings } = offered(server, listing.tools);
      const all = server.resources ? [...tools, ...resourceTools(server)] : tools;
      return { tools: all.map((tool) => ({ ...tool, data: { server } })), warnings };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (server.required) throw new OutsideError(error.message, { cause: error });
      return { warnings: [`${error.message}; the agent works without its tools`] };
    }
  }
}
