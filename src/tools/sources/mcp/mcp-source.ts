import { asObject } from "../../../platform/text/json.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type { ExecutableTool } from "../../tool.ts";
import {
  type ActiveLoop,
  type PinContext,
  type SourcePin,
  type ToolSource,
  ToolSourceError,
} from "../tool-source.ts";
import { McpError } from "./mcp-error.ts";
import { McpPool, type McpPoolOptions } from "./mcp-pool.ts";
import { createMcpTool, type ServerRequestHandlers } from "./mcp-tool.ts";
import { pinTools } from "./pin-tools.ts";
import { createResourceTool, pinResourceTools } from "./resource-tools.ts";
import { ToolListWatcher } from "./tool-list-watcher.ts";

/** Provides the tools of MCP servers. A server lives as long as the worker, and only while it is used. */
export class McpSource implements ToolSource {
  readonly kind = "mcp";
  readonly #pool: McpPool;
  readonly #handlers: ServerRequestHandlers;
  readonly #toolListWatcher = new ToolListWatcher((server) => this.#pool.getLastListing(server));

  constructor(options: McpPoolOptions & ServerRequestHandlers) {
    this.#pool = new McpPool({ ...options, onListed: () => this.#toolListWatcher.compareAll() });
    this.#handlers = {
      ...options,
      isNotified: async ({ loopId }, server) =>
        loopId !== undefined && (await this.#toolListWatcher.isNotified(loopId, server)),
    };
  }

  isUsedBy({ mcp = [] }: AgentDefinition): boolean {
    return mcp.length > 0;
  }

  async pin({ mcp = [] }: AgentDefinition, context: PinContext): Promise<SourcePin> {
    const parts = await Promise.all(mcp.map(async (server) => await this.#pinServer(server, context)));
    return {
      tools: parts.flatMap(({ tools = [] }) => tools),
      warnings: parts.flatMap(({ warnings = [] }) => warnings),
    };
  }

  createTool(pinned: PinnedTool): ExecutableTool {
    const server = McpServer.parse(asObject(pinned.data)?.["server"]);
    const getServer = () => this.#pool.getServer(server);
    // A server may have tools with the names of the resource tools.
    const resourceTool = pinResourceTools(server).find(({ hash }) => hash === pinned.hash)?.remote;
    if (resourceTool === "resources/list") return createResourceTool(pinned, "list", server, getServer);
    if (resourceTool === "resources/read") return createResourceTool(pinned, "read", server, getServer);
    return createMcpTool(pinned, server, getServer, this.#handlers);
  }

  watch(definition: AgentDefinition, loop: ActiveLoop): void {
    this.#toolListWatcher.watch(loop, definition);
  }

  unwatch(loopId: string): void {
    this.#toolListWatcher.unwatch(loopId);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #pinServer(server: McpServer, { signal }: PinContext): Promise<SourcePin> {
    try {
      const listing = await this.#pool.getServer(server).getListing(signal);
      const { tools, warnings } = pinTools(server, listing.tools);
      const all = server.resources ? [...tools, ...pinResourceTools(server)] : tools;
      return { tools: all.map((tool) => ({ ...tool, data: { server } })), warnings };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (server.required) throw new ToolSourceError(error.message, { cause: error });
      return { warnings: [`${error.message}; the agent works without its tools`] };
    }
  }
}
