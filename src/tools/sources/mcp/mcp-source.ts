import { asObject } from "../../../platform/text/json.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import { type Sandboxes, SandboxUnavailableError } from "../../sandbox/sandboxes.ts";
import type { ExecutableTool } from "../../tool.ts";
import type { ToolContext } from "../../tool-execution.ts";
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
import { getOwnSandbox, readPinnedPlace, type ServerPlace } from "./server-place.ts";
import { ToolListWatcher } from "./tool-list-watcher.ts";

export type McpSourceOptions = McpPoolOptions &
  ServerRequestHandlers & { readonly sandboxes: Pick<Sandboxes, "open" | "check" | "getSettings"> };

/** Provides the tools of MCP servers. A server lives as long as the worker, and only while it is used. */
export class McpSource implements ToolSource {
  readonly kind = "mcp";
  readonly #sandboxes: Pick<Sandboxes, "open" | "check" | "getSettings">;
  readonly #pool: McpPool;
  readonly #handlers: ServerRequestHandlers;
  readonly #toolListWatcher = new ToolListWatcher((server, place) =>
    this.#pool.getLastListing(server, place),
  );

  constructor(options: McpSourceOptions) {
    this.#sandboxes = options.sandboxes;
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

  async pin(definition: AgentDefinition, context: PinContext): Promise<SourcePin> {
    const servers = (definition.mcp ?? []).map((server) => ({
      server,
      place: this.#findPlace(server, definition, context.workspace),
    }));
    // No server is started where one of them could only be started without its sandbox.
    for (const { server, place } of servers) await this.#checkPlace(server, place);
    const parts = await Promise.all(
      servers.map(async ({ server, place }) => await this.#pinServer(server, place, context)),
    );
    return {
      tools: parts.flatMap(({ tools = [] }) => tools),
      warnings: parts.flatMap(({ warnings = [] }) => warnings),
    };
  }

  createTool(pinned: PinnedTool): ExecutableTool {
    const data = asObject(pinned.data);
    const server = McpServer.parse(data?.["server"]);
    const place = readPinnedPlace(data);
    const getServer = ({ workspace }: Pick<ToolContext, "workspace">) =>
      this.#pool.getServer(
        server,
        place ?? { sandbox: this.#sandboxes.getSettings(getOwnSandbox(server)), workspace },
      );
    // A server may have tools with the names of the resource tools.
    const resourceTool = pinResourceTools(server).find(({ hash }) => hash === pinned.hash)?.remote;
    if (resourceTool === "resources/list") return createResourceTool(pinned, "list", server, getServer);
    if (resourceTool === "resources/read") return createResourceTool(pinned, "read", server, getServer);
    return createMcpTool(pinned, server, getServer, this.#handlers);
  }

  watch(definition: AgentDefinition, loop: ActiveLoop): void {
    this.#toolListWatcher.watch(loop, definition, (server) => {
      const pinned = definition.pinned?.tools.find(
        ({ source, from }) => source === this.kind && from === server.name,
      );
      return readPinnedPlace(asObject(pinned?.data)) ?? this.#findPlace(server, definition, loop.workspace);
    });
  }

  unwatch(loopId: string): void {
    this.#toolListWatcher.unwatch(loopId);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #findPlace(server: McpServer, { sandbox }: AgentDefinition, workspace: string): ServerPlace {
    return { sandbox: this.#sandboxes.getSettings(getOwnSandbox(server) ?? sandbox), workspace };
  }

  async #checkPlace({ name, transport }: McpServer, { sandbox }: ServerPlace): Promise<void> {
    if (transport.type === "http") return;
    await this.#sandboxes.check(sandbox).catch((error: unknown) => {
      if (!(error instanceof SandboxUnavailableError)) throw error;
      throw new ToolSourceError(`The MCP server "${name}" is not started. ${error.message}`, {
        cause: error,
      });
    });
  }

  async #pinServer(server: McpServer, place: ServerPlace, { signal }: PinContext): Promise<SourcePin> {
    try {
      const listing = await this.#pool.getServer(server, place).getListing(signal);
      const { tools, warnings } = pinTools(server, listing.tools);
      const all = server.resources ? [...tools, ...pinResourceTools(server)] : tools;
      const data = server.transport.type === "http" ? { server } : { server, ...place };
      return { tools: all.map((tool) => ({ ...tool, data })), warnings };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (server.required) throw new ToolSourceError(error.message, { cause: error });
      return { warnings: [`${error.message}; the agent works without its tools`] };
    }
  }
}
